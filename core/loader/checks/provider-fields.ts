import type { ProviderDefinition } from '@svc/plugin-sdk'
import { LoadError } from '../load-error.ts'

type Definition = Pick<ProviderDefinition, 'key' | 'progress'>

/** Returns the fields that a provider adds to ROMs and users in responses and requests. */
const listFields = ({ key, progress }: Definition): string[] => [
  ...['id', 'metadata', 'progress', 'progression', 'url_cover'].map((suffix) => `${key}_${suffix}`),
  ...Object.keys((progress?.account.properties ?? {}))
]

/** Returns why a provider would replace a field of the server, with the remedy; null if it would not. */
export function explainTakenField (definition: Definition, serverFields: ReadonlySet<string>): string | null {
  const taken = listFields(definition).find((name) => serverFields.has(name))
  if (taken === undefined) return null
  return `its key '${definition.key}' gives it the field '${taken}', which is one of the server's own: choose another key`
}

/**
 * Refuses a provider that would replace a field of the server, such as `platform_id` by the key `platform`. It could
 * otherwise change the meaning of responses, and receive values of requests such as `current_password`.
 *
 * @throws LoadError naming the field
 */
export function checkProviderFields (definition: Definition, serverFields: ReadonlySet<string>): void {
  const reason = explainTakenField(definition, serverFields)
  if (reason !== null) throw new LoadError('failed', reason)
}
