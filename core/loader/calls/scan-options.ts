import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

type Options = Readonly<Record<string, unknown>>

/** Returns the options in a scan's payload that a provider declares, with their defaults. */
export function readScanOptions (schema: TSchema | undefined, payload: Options = {}): Options {
  if (schema === undefined) return {}
  const names = Object.keys((schema.properties ?? {}) as Options)
  const given = Object.fromEntries(names.flatMap((name) => payload[name] === undefined ? [] : [[name, payload[name]]]))
  return Value.Default(schema, given) as Options
}
