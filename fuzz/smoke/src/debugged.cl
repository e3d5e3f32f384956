typedef struct { int a; float f[3]; } S;

int twice(int x) {
  int r = x + x;
  return r;
}

kernel void k(global int *out, int n) {
  int i = get_global_id(0);
  S s = { i, { 1, 2, 3 } };
  int4 v = (int4)(i);
  local int shared[16];
  shared[i & 15] = n;
  for (int j = 0; j < 3; j++)
    v.y += twice(s.a) + shared[i & 15];
  out[i] = v.y;
}
