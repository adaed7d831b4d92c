const NUMBER = /^[0-9]{1,9}$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns a UUID in the spelling of the database; null if the text is no UUID. */
export const readUuid = (text: string): string | null => UUID.test(text) ? text.toLowerCase() : null

/**
 * Returns the column and value of a reference by a client: the integer id, also as text, or the UUID in `column`. Null
 * for neither.
 */
export function readReference<Column extends string> (
  reference: number | string, column: Column
): { id: number } | Record<Column, string> | null {
  const text = String(reference)
  if (NUMBER.test(text)) return { id: Number(text) }
  const uuid = readUuid(text)
  return uuid === null ? null : { [column]: uuid } as Record<Column, string>
}
