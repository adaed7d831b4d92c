import { addressOf } from '../../base.ts'
import { useResource } from '../../api/resource.ts'
import { describeStatus, readFailure } from '../../api/failure.ts'
import { texts } from '../../i18n/language.ts'
import { type Fields as Schemas, isFields } from '../../read-fields.ts'

/** Loads the schemas of the API document, which also has those of the settings of all installed plugins. */
async function loadSchemas (signal: AbortSignal): Promise<Schemas> {
  const reply = await fetch(addressOf('openapi.json'), { signal })
  const document: unknown = await reply.json()
  if (!reply.ok) throw readFailure(reply.status, document, describeStatus(reply.status, texts().errors))
  const components = isFields(document) ? document.components : undefined
  const schemas = isFields(components) ? components.schemas : undefined
  return isFields(schemas) ? schemas : {}
}

/** The schemas of the settings of plugins, named such as `channel_webhook_settings`. */
export const usePluginSchemas = () => useResource('plugin-schemas', loadSchemas)

/** Returns the keys of all channels among the schemas. */
export const listChannelKeys = (schemas: Schemas): string[] =>
  Object.keys(schemas).flatMap((name) => /^channel_(.+)_settings$/.exec(name)?.[1] ?? [])
