/** Longer answers are no number with words around it. */
const LONGEST = 200;

/** Number words of one language, in lower case and without accents. */
interface NumberWords {
  /** Words with their value; hundreds and thousands multiply what stands before them. */
  values: ReadonlyMap<string, number>;
  /** Words for one that are articles as well: before another number ("una mesa para dos") they count for nothing. */
  articles: ReadonlySet<string>;
  /** Words between the parts of one number: "treinta y dos". */
  joins: ReadonlySet<string>;
}

/** Words from a value on; `/` stands between words for the same. */
const from = (first: number, words: string, step = 1): [string, number][] =>
  words
    .split(" ")
    .flatMap((same, index) => same.split("/").map((word): [string, number] => [word, first + index * step]));

const language = (
  lists: readonly [string, number][][],
  articles: readonly string[],
  joins: readonly string[],
): NumberWords => ({
  values: new Map(lists.flat()),
  articles: new Set(articles),
  joins: new Set(joins),
});

const en = language(
  [
    from(0, "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"),
    from(15, "fifteen sixteen seventeen eighteen nineteen"),
    from(20, "twenty thirty forty fifty sixty seventy eighty ninety", 10),
    [
      ["hundred", 100],
      ["thousand", 1_000],
    ],
  ],
  [],
  ["and"],
);

const WORDS: Record<string, NumberWords> = {
  en,
  es: language(
    [
      from(
        0,
        "cero uno/una/un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince",
      ),
      from(16, "dieciseis diecisiete dieciocho diecinueve veinte veintiuno/veintiun/veintiuna veintidos"),
      from(23, "veintitres veinticuatro veinticinco veintiseis veintisiete veintiocho veintinueve"),
      from(30, "treinta cuarenta cincuenta sesenta setenta ochenta noventa cien/ciento", 10),
      from(200, "doscientos/doscientas trescientos/trescientas cuatrocientos/cuatrocientas", 100),
      from(500, "quinientos/quinientas seiscientos/seiscientas setecientos/setecientas", 100),
      from(800, "ochocientos/ochocientas novecientos/novecientas mil", 100),
    ],
    ["un", "una"],
    ["y"],
  ),
  pt: language(
    [
      from(0, "zero um/uma dois/duas tres quatro cinco seis sete oito nove dez onze doze treze"),
      from(14, "catorze/quatorze quinze dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove"),
      from(20, "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem/cento", 10),
      from(200, "duzentos/duzentas trezentos/trezentas quatrocentos/quatrocentas quinhentos/quinhentas", 100),
      from(
        600,
        "seiscentos/seiscentas setecentos/setecentas oitocentos/oitocentas novecentos/novecentas mil",
        100,
      ),
    ],
    ["um", "uma"],
    ["e"],
  ),
  id: language(
    [
      from(0, "nol satu dua tiga empat lima enam tujuh delapan sembilan sepuluh sebelas"),
      [
        ["belas", 10],
        ["puluh", 10],
        ["seratus", 100],
        ["ratus", 100],
        ["seribu", 1_000],
        ["ribu", 1_000],
      ],
    ],
    ["satu"],
    [],
  ),
};

const FIGURES = /^[+-]?\d{1,15}(?:[.,]\d{1,10})?$/;
/** "1,000" is a thousand to some and one to others. */
const AMBIGUOUS = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/;
const OR = new Set(["or", "o", "u", "ou", "atau"]);

/**
 * The one number in a text: "4", "4 people", "somos 4", "a table for two", "vinte e cinco".
 *
 * @param locale as `ctx.locale`: number words are those of the language, and the English ones
 * @returns undefined for none, for more than one ("2 or 3"), for what may be another ("1,000"), and for a long text
 */
export function numberIn(text: string, locale: string): number | undefined {
  if (text.length > LONGEST) return undefined;
  const tokens = text
    .split(/\s/)
    .map(bare)
    .filter((token) => token !== "");
  const figures = tokens.filter((token) => /\p{N}/u.test(token));
  if (figures.length > 0) return figures.length === 1 ? figuresOf(figures[0]!) : undefined;
  const own = WORDS[locale.toLowerCase().split("-")[0]!] ?? en;
  const found = inWords(tokens, own);
  return found.length === 0 && own !== en ? single(inWords(tokens, en)) : single(found);
}

const single = ([value, ...more]: number[]): number | undefined =>
  value === undefined || more.length > 0 || Number.isNaN(value) ? undefined : value;

const figuresOf = (token: string): number | undefined =>
  FIGURES.test(token) && !AMBIGUOUS.test(token) ? Number(token.replace(",", ".")) : undefined;

const SIGN = /^[+-]$/;
const INNER = /^[\p{L}\p{N}]$/u;

/** Without case, accents, and signs around it ("4!", "¿dos?", "4️⃣", "5€"); the sign of a number stays. By hand: linear. */
function bare(token: string): string {
  const points = [...token.normalize("NFKD")].filter((point) => !/^\p{M}$/u.test(point));
  const start = points.findIndex((point) => INNER.test(point));
  if (start === -1) return "";
  const end = points.findLastIndex((point) => INNER.test(point));
  const sign = SIGN.test(points[start - 1] ?? "") ? points[start - 1]! : "";
  return (sign + points.slice(start, end + 1).join("")).toLowerCase();
}

/** Every number that stands there in words; NaN for words that are no one number together. */
function inWords(tokens: readonly string[], words: NumberWords): number[] {
  const runs = runsOf(
    tokens.flatMap((token) => token.split("-")),
    words,
  );
  const isArticle = (run: readonly string[]): boolean => run.length === 1 && words.articles.has(run[0]!);
  const isChoice = tokens.some((token) => OR.has(token));
  const counted = runs.filter((run, index) => isChoice || index === runs.length - 1 || !isArticle(run));
  return counted.map((run) => valueOf(run, words));
}

/** Number words that stand together. */
function runsOf(tokens: readonly string[], { values, joins }: NumberWords): string[][] {
  const runs: string[][] = [];
  let open: string[] | null = null;
  for (const [index, token] of tokens.entries()) {
    if (values.has(token)) {
      if (open === null) runs.push((open = []));
      open.push(token);
    } else if (open === null || !joins.has(token) || !values.has(tokens[index + 1] ?? "")) open = null;
  }
  return runs;
}

/** "two hundred thirty five", "dua puluh lima"; NaN for "two three". */
function valueOf(run: readonly string[], { values }: NumberWords): number {
  let thousands = 0;
  let part = 0;
  for (const word of run) {
    const value = values.get(word)!;
    const unit = part % 10;
    if (value === 1_000) {
      thousands += Math.max(part, 1) * value;
      part = 0;
    } else if (word === "belas") part += 10;
    else if (word === "puluh") part += unit * 9;
    else if (value === 100 && part > 0 && part < 10) part *= 100;
    else if (fits(value, part)) part += value;
    else return Number.NaN;
  }
  return thousands + part;
}

/** Whether a smaller part can follow: five after twenty, twenty after a hundred. */
const fits = (value: number, part: number): boolean =>
  part === 0 || (value < 100 && part % 100 === 0) || (value < 10 && part % 10 === 0 && part % 100 >= 20);
