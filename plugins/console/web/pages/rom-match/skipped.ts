import type { Messages } from '../../i18n/en.ts'
import { readList, readText } from '../../read-fields.ts'

/** Providers that gave no answer to a search for the same reason. */
export interface Skipped {
  readonly code: string
  /** The reason in the words of the server. */
  readonly reason: string
  readonly providers: readonly string[]
}

/** Reads the providers without an answer from the header of a search, by their reason. */
export function readSkipped (header: string | null): Skipped[] {
  const list: unknown = JSON.parse(header ?? '[]')
  const items = readList(list).map(({ provider, code, reason }) =>
    ({ provider: readText(provider), code: readText(code), reason: readText(reason) }))
  return [...Map.groupBy(items, ({ reason }) => reason)].map(([reason, same]) =>
    ({ code: same[0]?.code ?? '', reason, providers: same.map(({ provider }) => provider) }))
}

/** Returns the reason in the language of the page. The server's words stay for a code without a text. */
export function describeSkipped ({ code, reason }: Skipped, words: Messages['rom']['match']): string {
  const texts: Readonly<Record<string, string>> = words.skipReasons
  return Object.hasOwn(texts, code) ? texts[code] ?? reason : reason
}
