import type { ChannelDefinition } from '@svc/plugin-sdk'
import { badRequest, invalid } from '../../../core/errors.ts'
import type { Loaded, Registry } from '../../../core/loader/registry.ts'

export type ChannelPlugin = Loaded<ChannelDefinition>

/** @throws ApiError BAD_REQUEST for a type that is not set up, INVALID for an unknown one. */
export function findPlugin (registry: Registry, type: string): ChannelPlugin {
  const loaded = registry.channels.get(type)
  if (loaded !== undefined) return loaded
  const record = registry.records.find(({ kind, key }) => kind === 'channel' && key === type)
  if (record !== undefined) {
    throw badRequest(`Channels of the type '${type}' are not available on this server; an administrator can correct this: ` +
      (record.reason ?? 'see the log of the server'))
  }
  const knownTypes = [...registry.channels.keys()].join(', ')
  throw invalid(['body', 'type'], `There is no channel type '${type}'; use one of: ${knownTypes}`, type)
}
