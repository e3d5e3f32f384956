// Reads what another work-item writes, without a barrier.
kernel void turn(global int *out, local int *l) {
  int i = get_local_id(0);
  l[i] = i;
  out[get_global_id(0)] = l[15 - i];
}
