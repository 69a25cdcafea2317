/** What dialogues say and understand by themselves, by language. */
interface DialogueWords {
  retry: string;
  gone: string;
  givenUp: string;
  cancelled: string;
  wantText: string;
  wantFile: string;
  wantLocation: string;
  /** Words that end a dialogue, beside the English ones. */
  cancel: readonly string[];
  yes: readonly string[];
  no: readonly string[];
}

const en: DialogueWords = {
  retry: "Sorry, I did not understand that.",
  gone: "Sorry, that is no longer to be had.",
  givenUp: "Let us leave it for now. Write again whenever you like.",
  cancelled: "All right, cancelled.",
  wantText: "Please answer in writing.",
  wantFile: "Please send a file for this.",
  wantLocation: "Please share a location for this.",
  cancel: ["cancel", "stop"],
  yes: ["yes", "y", "ok", "okay", "yep", "sure", "👍", "1"],
  no: ["no", "n", "nope", "👎", "2"],
};

const WORDS: Record<string, DialogueWords> = {
  en,
  es: {
    retry: "Perdón, no lo he entendido.",
    gone: "Lo siento, eso ya no está disponible.",
    givenUp: "Dejémoslo por ahora. Escriba de nuevo cuando quiera.",
    cancelled: "De acuerdo, cancelado.",
    wantText: "Por favor, responda por escrito.",
    wantFile: "Por favor, envíe un archivo.",
    wantLocation: "Por favor, comparta una ubicación.",
    cancel: ["cancelar", "parar"],
    yes: ["sí", "s", "vale", "claro"],
    no: ["no"],
  },
  pt: {
    retry: "Desculpe, não entendi.",
    gone: "Desculpe, isso já não está disponível.",
    givenUp: "Vamos deixar por agora. Escreva de novo quando quiser.",
    cancelled: "Tudo bem, cancelado.",
    wantText: "Por favor, responda por escrito.",
    wantFile: "Por favor, envie um arquivo.",
    wantLocation: "Por favor, compartilhe uma localização.",
    cancel: ["cancelar", "parar"],
    yes: ["sim", "s", "claro"],
    no: ["não"],
  },
  id: {
    retry: "Maaf, saya tidak mengerti.",
    gone: "Maaf, itu sudah tidak tersedia.",
    givenUp: "Kita hentikan dulu. Silakan tulis lagi kapan saja.",
    cancelled: "Baik, dibatalkan.",
    wantText: "Mohon jawab dengan tulisan.",
    wantFile: "Mohon kirim sebuah berkas.",
    wantLocation: "Mohon bagikan sebuah lokasi.",
    cancel: ["batal", "berhenti"],
    yes: ["ya", "iya"],
    no: ["tidak", "bukan"],
  },
};

/** @param locale as `ctx.locale`; of `pt-BR`, `pt`; English for a language that is not here */
export function wordsIn(locale: string): DialogueWords {
  return WORDS[locale.toLowerCase().split("-")[0]!] ?? en;
}

/** Words of the language and the English ones, which people try as well. */
export const understoodIn = (locale: string, kind: "cancel" | "yes" | "no"): string[] => [
  ...en[kind],
  ...wordsIn(locale)[kind],
];
