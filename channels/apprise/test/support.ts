import channel from '../src/index.ts'
import type { Settings } from '../src/settings.ts'

/** What a URL says that is understood without a bridge, and what of it is left out. */
export function read (url: string): Settings & { warnings: readonly string[] } {
  const read = channel.definition.parse?.(url)
  if (read === null || read === undefined || read instanceof Promise) throw new Error(`'${url}' is not understood`)
  return { ...read, warnings: read.warnings ?? [] }
}

/** Settings out of such a URL. */
export function parse (url: string): Settings {
  const { service, fields } = read(url)
  return { service, fields }
}
