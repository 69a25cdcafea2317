/** Calling codes of one and two digits; all others have three. */
const SHORT = /^(1|7|20|27|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;

/** Groups of three, the last of three or four: `812 3456 789` is harder to compare than `812 345 6789`. */
function grouped(digits: string): string {
  const groups: string[] = [];
  let rest = digits;
  while (rest.length > 4) {
    groups.push(rest.slice(0, 3));
    rest = rest.slice(3);
  }
  return [...groups, rest].join(" ");
}

/** `6281234567890` → `+62 812 345 678 90`; what are no digits of a telephone stays as it is. */
export function phoneText(number: string): string {
  if (!/^\d{7,15}$/.test(number)) return number;
  const code = SHORT.exec(number)?.[1] ?? number.slice(0, 3);
  return `+${code} ${grouped(number.slice(code.length))}`;
}
