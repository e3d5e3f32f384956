/* envisa
about = "A small byte-code machine: a switch within a loop, each lane at its own instruction"
sizes = { N = 64, LEN = 32 }
global = ["N"]
local = [32]
features = ["divergence", "switch", "loop", "u8"]
wrong_peers = [
  { peer = "oclgrind", why = "Clang makes `switch (x & 7)` one over a 3-bit integer, and Oclgrind does not clear the other bits when it cuts the value down: 8 & 7 takes none of the cases but the default" },
]
args = [
  { name = "code", value = "rand:u8:N*LEN:3" },
  { name = "out", value = "zeros:u32:N", check = "exact", why = "integers" },
  { name = "len", value = "u32:LEN" },
]
*/
kernel void state_machine(global const uchar *code, global uint *out, uint len)
{
    size_t i = get_global_id(0);
    global const uchar *p = code + i * len;
    uint acc = (uint)i, reg = 1;
    uint pc = 0, budget = 200;
    while (pc < len && budget-- > 0) {
        uchar op = p[pc++];
        switch (op & 7) {
        case 0: acc += op; break;
        case 1: acc -= reg; break;
        case 2: reg = acc ^ op; break;
        case 3: acc = acc * 5 + 1; break;
        case 4: if (acc & 1) pc += op >> 6; break;
        case 5: if ((acc & 6) == 0 && pc > 3) { pc -= 3; acc += 3; } break;
        case 6: reg = (reg << 1) | (acc & 1); break;
        default: acc ^= reg >> 2; break;
        }
    }
    out[i] = acc + reg * 7;
}
