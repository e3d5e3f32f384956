int fact(int n)
{
    return n <= 1 ? 1 : n * fact(n - 1);
}

kernel void calls(global int *out, int n)
{
    int i = get_global_id(0);
    out[i] = fact(n + i);
}
