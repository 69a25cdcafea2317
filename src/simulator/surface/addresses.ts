/** A user's number in digits, with its country code: `"31600000001"`. */
export type PhoneNumber = string;
/** Anything that names a chat partner: digits, `…@s.whatsapp.net`, `…@lid` or `…@g.us`. */
export type Address = string;
