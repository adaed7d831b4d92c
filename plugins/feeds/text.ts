type Values = readonly (string | number)[]

const quote = (text: string) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** Joins values with commas, and quotes only those that need it. */
export const toCsvLine = (values: Values): string => values.map((value) => quote(String(value))).join(',')

/** Joins values with tabs, for readers that know no quotes. Tabs and line breaks in a value become spaces. */
export const toTabLine = (values: Values): string =>
  values.map((value) => String(value).replaceAll(/\r\n|[\t\r\n]/g, ' ')).join('\t')

/** Joins paged items with a separator between them. */
export async function * join (pages: AsyncIterable<readonly string[]>, separator: string): AsyncGenerator<string> {
  let isFirst = true
  for await (const page of pages) {
    if (page.length === 0) continue
    yield `${isFirst ? '' : separator}${page.join(separator)}`
    isFirst = false
  }
}

/** Joins lines with LF. @param head lines that come first, even if there are no others */
export async function * joinLines (
  head: readonly string[], pages: AsyncIterable<readonly string[]>
): AsyncGenerator<string> {
  async function * lines () {
    yield head
    yield * pages
  }
  yield * join(lines(), '\n')
}
