type Values = readonly (string | number)[]

const quote = (text: string) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** Values with commas between them, in quotes only where they must be. */
export const toCsvLine = (values: Values): string => values.map((value) => quote(String(value))).join(',')

/** Values with tabs between them, for readers that know no quotes: what would break a line or a column is a space. */
export const toTabLine = (values: Values): string =>
  values.map((value) => String(value).replaceAll(/\r\n|[\t\r\n]/g, ' ')).join('\t')

/** Puts a separator between what comes page by page; none is before the first and after the last. */
export async function * join (pages: AsyncIterable<readonly string[]>, separator: string): AsyncGenerator<string> {
  let isFirst = true
  for await (const page of pages) {
    if (page.length === 0) continue
    yield `${isFirst ? '' : separator}${page.join(separator)}`
    isFirst = false
  }
}

/** Lines with LF between them. @param head those that are there even when no other one is */
export async function * joinLines (
  head: readonly string[], pages: AsyncIterable<readonly string[]>
): AsyncGenerator<string> {
  async function * lines () {
    yield head
    yield * pages
  }
  yield * join(lines(), '\n')
}
