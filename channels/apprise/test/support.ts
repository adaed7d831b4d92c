import channel from '../src/index.ts'
import type { Settings } from '../src/settings.ts'

/** Parses a URL that needs no bridge, with warnings about skipped parts. */
export function read (url: string): Settings & { warnings: readonly string[] } {
  const read = channel.definition.parse?.(url)
  if (read === null || read === undefined || read instanceof Promise) throw new Error(`'${url}' is not understood`)
  return { ...read, warnings: read.warnings ?? [] }
}

/** Parses the settings from such a URL. */
export function parse (url: string): Settings {
  const { service, fields } = read(url)
  return { service, fields }
}
