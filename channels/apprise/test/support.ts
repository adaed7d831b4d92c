import channel from '../src/index.ts'
import type { Settings } from '../src/settings.ts'

/** Settings out of a URL that is understood without a bridge. */
export function parse (url: string): Settings {
  const settings = channel.definition.parse?.(url)
  if (settings === null || settings === undefined || settings instanceof Promise) throw new Error(`'${url}' is not understood`)
  return settings
}
