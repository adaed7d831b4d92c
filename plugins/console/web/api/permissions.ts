import { api, call } from './client.ts'
import { useResource } from './resource.ts'
import type { components } from './schema.d.ts'

/** Something that a permission allows, such as `rom.delete`. */
export type Action = components['schemas']['PermissionsGrant']['action']

/** Returns the actions that the account may take; none until they are known. */
export function useActions (): ReadonlySet<Action> {
  const { data } = useResource('permissions', (signal) => call(api.GET('/api/permissions/me', { signal })), { 'permissions:changed': true })
  return new Set(data.value?.grants.map(({ action }) => action))
}
