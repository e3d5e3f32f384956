// A picture of the Mandelbrot set, coloured by escape time.
kernel void mandelbrot(global uchar4 *pixels, uint width, uint height, uint limit)
{
    uint x = get_global_id(0), y = get_global_id(1);
    float cr = 3.5f * ((float)x + 0.5f) / (float)width - 2.5f;
    float ci = 2.0f * ((float)y + 0.5f) / (float)height - 1.0f;
    float zr = 0.0f, zi = 0.0f;
    uint n = 0;
    while (n < limit && zr * zr + zi * zi < 16.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
        n++;
    }
    uchar4 c = (uchar4)(0, 0, 0, 255);
    if (n < limit) {
        float s = (float)n + 1.0f - native_log2(native_log2(zr * zr + zi * zi) * 0.5f);
        float3 phase = (float3)(0.05f, 0.07f, 0.11f) * s;
        c.x = convert_uchar_sat(127.5f + 127.5f * native_sin(phase.x));
        c.y = convert_uchar_sat(127.5f + 127.5f * native_sin(phase.y));
        c.z = convert_uchar_sat(127.5f + 127.5f * native_sin(phase.z));
    }
    pixels[y * width + x] = c;
}
