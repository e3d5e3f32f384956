// What work-items say appears in the order of their threads.
kernel void greet(global const float *x)
{
    int i = get_global_id(0);
    printf("item %d of group %d: x = %.2f, %s\n", i, (int)get_group_id(0), x[i], x[i] < 1.0f ? "small" : "large");
}
