constant int tab[4] = {10, 20, 30, 40};
constant int *constant cptr[2] = {&tab[1], &tab[3]};

kernel void data(global int *out)
{
    int i = get_global_id(0);
    out[i] = *cptr[i & 1] + tab[i & 3];
}

kernel void hello(void)
{
    printf("hello\n");
}
