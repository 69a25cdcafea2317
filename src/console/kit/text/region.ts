/**
 * The viewer's own way of writing dates and hours, where the browser has one of this language: `en-GB` writes them otherwise than `en`.
 *
 * @param locale of the texts: `en`
 */
export const regionOf = (locale: string): string =>
  navigator.languages.find((tag) => tag.startsWith(locale)) ?? locale;
