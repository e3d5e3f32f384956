// Texts.

// lines of digits parsed: 32768 by 64; 524288 of 0..20, 32768
__kernel void parse_ints(__global const uchar *text, __global int *value)
{
    int i = get_global_id(0);
    __global const uchar *p = text + i * 16;
    bool negative = false;
    int v = 0, k = 0;
    while (k < 16 && (p[k] + '0' > '9'))
        k++;
    if (k < 16 && (k & 1)) {
        negative = true;
        k++;
    }
    for (; k < 16; k++) {
        int digit = p[k];
        if (digit > 9 || v > 214748363)
            break;
        v = v * 10 + digit;
    }
    value[i] = negative ? -v : v;
}

// a word searched: 262144 by 64; 262160 of 97..100, 8 of 97..100, 262144, 5
__kernel void find_word(__global const char *text, __constant char *word, __global uchar *found, int length)
{
    int i = get_global_id(0), k = 0;
    while (k < length && text[i + k] == word[k])
        ++k;
    found[i] = k == length;
}

// distances of words: 8192 by 64; 196608 of 97..105, 24 of 97..105, 8192
#define W 24
__kernel void levenshtein(__global const char *words, __constant char *query, __global int *distance)
{
    int id = get_global_id(0);
    uchar row[W + 1];
    for (int j = 0; j <= W; j++)
        row[j] = j;
    for (int i = 1; i <= W; i++) {
        uchar corner = row[0];
        row[0] = i;
        char c = words[id * W + i - 1];
        for (int j = 1; j <= W; j++) {
            uchar up = row[j];
            uchar best = min((uchar)(min(up, row[j - 1]) + 1), (uchar)(corner + (c != query[j - 1])));
            row[j] = best;
            corner = up;
        }
    }
    distance[id] = row[W];
}

// words and lines counted: 8192 by 64; 524288 of 8..40, 8192
__kernel void word_count(__global const uchar *text, __global int4 *counts)
{
    int i = get_global_id(0);
    int words = 0, lines = 0, longest = 0, length = 0;
    for (int k = 0; k < 64; k++) {
        uchar c = text[i * 64 + k];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            if (length > 0)
                words++;
            lines += c == '\n';
            length = 0;
        } else {
            length++;
            longest = max(longest, length);
        }
    }
    counts[i] = (int4)(words, lines, longest, length);
}

// UTF-8 checked: 16384 by 64; 262144 of 96..240, 16384
__kernel void utf8_check(__global const uchar *text, __global int *bad)
{
    int i = get_global_id(0), wanted = 0, at = -1;
    for (int k = 0; k < 16; k++) {
        uchar c = text[i * 16 + k];
        if (wanted) {
            if ((c & 0xc0) != 0x80) {
                at = k;
                break;
            }
            wanted--;
        } else if (c >= 0xf5 || (c >= 0x80 && c < 0xc2)) {
            at = k;
            break;
        } else
            wanted = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    }
    bad[i] = at;
}

// numbers printed: 32768 by 64; 32768, 393216
__kernel void print_ints(__global const int *value, __global char *text)
{
    int i = get_global_id(0), n = 0;
    char digits[12];
    uint v = abs(value[i]);
    do {
        digits[n++] = '0' + v % 10;
        v /= 10;
    } while (v);
    if (value[i] < 0)
        digits[n++] = '-';
    __global char *out = text + i * 12;
    for (int k = 0; k < 12; k++)
        out[k] = k < n ? digits[n - 1 - k] : ' ';
}

// bytes to hexadecimal: 131072; 131072, 131072
__kernel void hex_dump(__global const uint *in, __global uchar8 *out)
{
    int i = get_global_id(0);
    uchar4 b = as_uchar4(in[i]);
    uchar8 n = (uchar8)(b.x >> 4, b.x & 15, b.y >> 4, b.y & 15, b.z >> 4, b.z & 15, b.w >> 4, b.w & 15);
    out[i] = n + select((uchar8)('0'), (uchar8)('a' - 10), n > (uchar8)(9));
}

// states of a parser of JSON: 8192 by 64; 524288 of 0..8, 56 of 0..7, 8192
__kernel void automaton(__global const uchar *symbols, __global const uchar *table, __global uint *out)
{
    __local uchar next[56];
    int l = get_local_id(0), i = get_global_id(0);
    if (l < 56)
        next[l] = table[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    uchar state = 0;
    uint depth = 0, seen = 0;
    for (int k = 0; k < 64; k++) {
        state = next[state * 8 + symbols[i * 64 + k]];
        if (state == 3)
            depth++;
        else if (state == 5 && depth > 0)
            depth--;
        seen |= 1u << state;
    }
    out[i] = depth << 16 | seen;
}
