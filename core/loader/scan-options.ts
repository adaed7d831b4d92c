import type { TObject, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

type Options = Readonly<Record<string, unknown>>

/** What of a scan's payload is meant for a provider, with the defaults of what is not in it. */
export function readScanOptions (definition: { scanOptions?: TObject | undefined } | object, payload: Options = {}): Options {
  const schema: TSchema | undefined = 'scanOptions' in definition ? definition.scanOptions : undefined
  if (schema === undefined) return {}
  const names = Object.keys((schema.properties ?? {}) as Options)
  const given = Object.fromEntries(names.filter((name) => payload[name] !== undefined).map((name) => [name, payload[name]]))
  return Value.Default(schema, given) as Options
}
