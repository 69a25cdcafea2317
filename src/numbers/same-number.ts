/** Digits that some countries write and WhatsApp leaves out, or the other way round. */
const SPELLINGS: [RegExp, string][] = [
  // Brazil: mobile numbers got a ninth digit; accounts from before go without it.
  [/^55(\d{2})9(\d{8})$/, "55$1$2"],
  // Mexico and Argentina: a digit for mobiles after the country code.
  [/^521(\d{10})$/, "52$1"],
  [/^549(\d{10})$/, "54$1"],
];

/** Do two spellings in digits name the same phone number? */
export function isSameNumber(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

function plain(digits: string): string {
  for (const [pattern, spelling] of SPELLINGS)
    if (pattern.test(digits)) return digits.replace(pattern, spelling);
  return digits;
}
