import { normalise } from "../messages/normalise.ts";

/** What dialogues say and understand by themselves, by language. */
interface DialogueWords {
  retry: string;
  gone: string;
  givenUp: string;
  cancelled: string;
  wantText: string;
  wantFile: string;
  wantLocation: string;
  /** After an error in the code of a flow. */
  failed: string;
  /** When the code has changed so that a flow cannot go on. */
  changed: string;
  /** After a change of a message whose answer is used already; `{name}` is what it is called. */
  edited: string;
  /** Below a summary; `{name}` is what one of its answers is called. */
  correct: string;
  /** Words that end a dialogue, beside the English ones. */
  cancel: readonly string[];
  yes: readonly string[];
  no: readonly string[];
  /** Words that lead back to the answer before. */
  back: readonly string[];
  /** Words that ask for the question again. */
  repeat: readonly string[];
  /** What stands before the name of an answer that is to be given anew: "change name". */
  change: readonly string[];
}

const en: DialogueWords = {
  retry: "Sorry, I did not understand that.",
  gone: "Sorry, that is no longer available.",
  givenUp: "Let us leave it for now. Write again whenever you like.",
  cancelled: "All right, cancelled.",
  wantText: "Please answer in writing.",
  wantFile: "Please send a file for this.",
  wantLocation: "Please share a location for this.",
  failed: "Sorry, something went wrong on our side. Please write again.",
  changed: "Sorry, this has changed meanwhile. Please begin again.",
  edited: "I have taken your answer as it was. To change it, write: change {name}",
  correct: "To correct something, write for instance: change {name}",
  cancel: ["cancel", "stop"],
  yes: ["yes", "y", "ok", "okay", "yep", "sure", "👍", "1"],
  no: ["no", "n", "nope", "👎", "2"],
  back: ["back", "go back"],
  repeat: ["repeat", "again", "repeat please"],
  change: ["change", "change my", "correct", "correct my"],
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
    failed: "Perdón, algo ha fallado por nuestra parte. Escriba de nuevo, por favor.",
    changed: "Perdón, esto ha cambiado entretanto. Empiece de nuevo, por favor.",
    edited: "He tomado su respuesta como estaba. Para cambiarla, escriba: cambiar {name}",
    correct: "Para corregir algo, escriba por ejemplo: cambiar {name}",
    cancel: ["cancelar", "parar"],
    yes: ["sí", "s", "vale", "claro"],
    no: ["no"],
    back: ["atrás", "volver"],
    repeat: ["repetir", "otra vez"],
    change: ["cambiar", "cambiar mi", "corregir", "corregir mi"],
  },
  pt: {
    retry: "Desculpe, não entendi.",
    gone: "Desculpe, isso já não está disponível.",
    givenUp: "Vamos deixar por agora. Escreva de novo quando quiser.",
    cancelled: "Tudo bem, cancelado.",
    wantText: "Por favor, responda por escrito.",
    wantFile: "Por favor, envie um arquivo.",
    wantLocation: "Por favor, compartilhe uma localização.",
    failed: "Desculpe, algo falhou do nosso lado. Escreva de novo, por favor.",
    changed: "Desculpe, isto mudou entretanto. Comece de novo, por favor.",
    edited: "Usei a sua resposta como estava. Para mudá-la, escreva: mudar {name}",
    correct: "Para corrigir algo, escreva por exemplo: mudar {name}",
    cancel: ["cancelar", "parar"],
    yes: ["sim", "s", "claro"],
    no: ["não"],
    back: ["voltar"],
    repeat: ["repetir", "de novo"],
    change: ["mudar", "mudar meu", "mudar minha", "corrigir", "corrigir meu", "corrigir minha"],
  },
  id: {
    retry: "Maaf, saya tidak mengerti.",
    gone: "Maaf, itu sudah tidak tersedia.",
    givenUp: "Kita hentikan dulu. Silakan tulis lagi kapan saja.",
    cancelled: "Baik, dibatalkan.",
    wantText: "Mohon jawab dengan tulisan.",
    wantFile: "Mohon kirim sebuah berkas.",
    wantLocation: "Mohon bagikan sebuah lokasi.",
    failed: "Maaf, ada kesalahan di pihak kami. Silakan tulis lagi.",
    changed: "Maaf, ini sudah berubah. Silakan mulai lagi.",
    edited: "Jawaban Anda sudah saya pakai. Untuk mengubahnya, tulis: ubah {name}",
    correct: "Untuk mengubah sesuatu, tulis misalnya: ubah {name}",
    cancel: ["batal", "berhenti"],
    yes: ["ya", "iya"],
    no: ["tidak", "bukan"],
    back: ["kembali"],
    repeat: ["ulangi"],
    change: ["ubah", "ganti"],
  },
};

/** @param locale as `ctx.locale`; of `pt-BR`, `pt`; English for a language that is not here */
export function wordsIn(locale: string): DialogueWords {
  return WORDS[locale.toLowerCase().split("-")[0]!] ?? en;
}

type Understood = "cancel" | "yes" | "no" | "back" | "repeat" | "change";

/** Of each language: every message in an open dialogue is compared with them. */
const understood = new Map<DialogueWords, Map<Understood, readonly string[]>>();

/** Words of the language and the English ones, which people try as well, as `normalise` makes them. */
export function understoodIn(locale: string, kind: Understood): readonly string[] {
  const words = wordsIn(locale);
  const known = understood.get(words) ?? new Map<Understood, readonly string[]>();
  understood.set(words, known);
  const all = known.get(kind) ?? [...en[kind], ...words[kind]].map((word) => normalise(word)!);
  known.set(kind, all);
  return all;
}
