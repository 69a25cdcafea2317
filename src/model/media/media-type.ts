/** `type/subtype` with at most three parameters: what may stand in a header. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?:; ?[\w-]{1,50}=[\w.,"+ -]{1,100}){0,3}$/;

/** What a stranger's phone says a file is, when it is a media type. @returns null for anything else */
export function plainMediaType(text: string): string | null {
  return MEDIA_TYPE.test(text) ? text : null;
}
