/** The types that openapi-typescript makes of a document. */
export function openApiTypes(document: object): Promise<string>;
