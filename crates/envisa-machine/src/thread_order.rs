//! The order in which groups start and threads of a group take turns.

use std::str::FromStr;

/// An order of the groups of a launch, and of the threads of a group. What a kernel does that is right is the same in each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// From the first to the last.
    #[default]
    Forward,
    /// From the last to the first.
    Reverse,
    /// As follows from a seed; threads take another order each turn.
    Random(u64),
}

impl Order {
    /// Which of `of` comes at this place, in the order of this number.
    pub fn place(self, at: u64, of: u64, number: u64) -> u64 {
        match self {
            Order::Forward => at,
            Order::Reverse => of.saturating_sub(1).saturating_sub(at),
            Order::Random(_) if of < 2 => at,
            Order::Random(seed) => {
                let bits = hash_bits(hash_bits(seed) ^ number);
                let step = (1 + (bits >> 32) % (of - 1)..).find(|step| gcd(*step, of) == 1).unwrap_or(1);
                let start = bits % of;
                ((u128::from(at) * u128::from(step) + u128::from(start)) % u128::from(of)) as u64
            }
        }
    }
}

fn hash_bits(x: u64) -> u64 {
    let x = (x ^ x >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ x >> 32
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Order, String> {
        let seed = |s: &str| s.parse().ok().map(Order::Random);
        let order = match text {
            "forward" => Some(Order::Forward),
            "reverse" => Some(Order::Reverse),
            other => other.strip_prefix("random:").and_then(seed),
        };
        order.ok_or_else(|| format!("`{text}` is not an order: forward, reverse, or random:SEED"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_comes_once() {
        for order in [Order::Forward, Order::Reverse, Order::Random(0), Order::Random(7)] {
            for of in 1..40 {
                for number in 0..4 {
                    let mut all: Vec<u64> = (0..of).map(|at| order.place(at, of, number)).collect();
                    all.sort_unstable();
                    assert_eq!(all, (0..of).collect::<Vec<u64>>(), "{order:?} {of} {number}");
                }
            }
        }
        let all = |order: Order, number| (0..16).map(|at| order.place(at, 16, number)).collect::<Vec<u64>>();
        assert_eq!(all(Order::Reverse, 3)[0], 15);
        assert_ne!(all(Order::Random(1), 0), all(Order::Random(2), 0));
        assert_ne!(all(Order::Random(1), 0), all(Order::Random(1), 1));
    }

    #[test]
    fn orders_are_read() {
        assert_eq!("random:12".parse(), Ok(Order::Random(12)));
        assert_eq!("reverse".parse(), Ok(Order::Reverse));
        assert!("random".parse::<Order>().is_err() && "random:x".parse::<Order>().is_err());
    }
}
