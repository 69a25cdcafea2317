import { z } from "zod";

/** How records look in answers: made by the schema of the answer, snake case, times in ISO 8601 UTC. */

/** `reply_max_age` → `replyMaxAge` */
type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;

/** An object whose names are the program's instead of those of the HTTP surface; what is inside of it stays as it is. */
export type CamelKeys<T> = { [Name in keyof T as Camel<Name>]: T[Name] };

/** What the program keeps of something that is shown by this schema: names in camel case, times in Unix milliseconds. */
export type RecordOf<S> = S extends z.ZodISODateTime
  ? number
  : S extends z.ZodNullable<infer Inner>
    ? RecordOf<Inner> | null
    : S extends z.ZodArray<infer Item>
      ? RecordOf<Item>[]
      : S extends z.ZodObject<infer Shape>
        ? { [Name in keyof Shape as Camel<Name>]: RecordOf<Shape[Name]> }
        : z.output<S>;

/** `reply_max_age` → `replyMaxAge` */
const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `replyMaxAge` → `reply_max_age` */
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** @returns the same values by the program's names */
export function camelKeys<T extends object>(value: T): CamelKeys<T> {
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [camel(name), field]),
  ) as CamelKeys<T>;
}

/** @returns the same values by the names of the HTTP surface, without what is undefined */
export function snakeKeys(value: object): Record<string, unknown> {
  const given = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(given.map(([name, field]) => [snake(name), field]));
}

/** @returns `record` as the schema of the answer describes it; what the schema does not name is left out */
export function view<S extends z.ZodType>(schema: S, record: RecordOf<S>): z.output<S> {
  return shape(schema, record) as z.output<S>;
}

function shape(schema: z.ZodType, value: unknown): unknown {
  if (value === null) return null;
  if (schema instanceof z.ZodNullable) return shape(schema.unwrap() as z.ZodType, value);
  if (schema instanceof z.ZodISODateTime) return new Date(value as number).toISOString();
  if (schema instanceof z.ZodArray)
    return (value as unknown[]).map((item) => shape(schema.element as z.ZodType, item));
  if (!(schema instanceof z.ZodObject)) return value;
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>);
  const record = value as Record<string, unknown>;
  return Object.fromEntries(fields.map(([name, field]) => [name, shape(field, record[camel(name)])]));
}

/** The fields of a request as answers show them again. */
export type Shown<Fields extends z.ZodRawShape> = {
  [Name in keyof Fields]: z.ZodType<Exclude<z.output<Fields[Name]>, undefined>>;
};

/** @returns for each field of a request what it holds, without the limits, defaults and leniency of requests */
export function shown<Fields extends z.ZodRawShape>(fields: Fields): Shown<Fields> {
  const entries = Object.entries(fields).map(([name, field]) => [name, bare(field as z.ZodType)]);
  return Object.fromEntries(entries) as Shown<Fields>;
}

function bare(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional)
    return bare(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodNullable) return bare(schema.unwrap() as z.ZodType).nullable();
  if (schema instanceof z.ZodPipe) return bare(schema.out as z.ZodType);
  if (schema instanceof z.ZodArray) return z.array(bare(schema.element as z.ZodType));
  if (schema instanceof z.ZodRecord) return z.record(z.string(), bare(schema.valueType as z.ZodType));
  if (schema instanceof z.ZodString) return z.string();
  return schema instanceof z.ZodNumberFormat ? z.int() : schema;
}
