import { ServiceDownError } from '@svc/plugin-sdk'
import { isFields, readFields } from '@svc/plugin-sdk/readers'
import { defineService, HEADER_PAIR, HOST_FIELDS, HOST_PORT, LOGIN_FIELDS, type SendRequest } from '../service.ts'
import { toPairs, type Values } from '../values.ts'

// Request and limits: https://github.com/nextcloud/notifications/blob/master/docs/admin-notifications.md
// Members of a group: https://docs.nextcloud.com/server/latest/admin_manual/configuration_user/instruction_set_for_groups.html
const HEADERS = { 'ocs-apirequest': 'true', accept: 'application/json' }
/** The version from which on the URL differs. */
const MOVED_IN_VERSION = 21

export const nextcloud = defineService({
  name: 'Nextcloud',
  setupUrl: 'https://github.com/nextcloud/notifications/blob/master/docs/admin-notifications.md',
  plain: ['ncloud'],
  secure: ['nclouds'],
  templates: [`[{user}:{password}@]${HOST_PORT}/{targets}`],
  fields: {
    ...HOST_FIELDS,
    ...LOGIN_FIELDS,
    targets: { label: 'Users, #groups or #all', type: 'list', required: true, pattern: /^[@#]?[\w@' -]+(?:\.[\w@' -]+)*$/ },
    version: { label: 'Version of the server', type: 'int', min: 1, default: MOVED_IN_VERSION },
    url_prefix: { label: 'Path prefix', type: 'string', pattern: /^\/?\w[\w/-]*$/ },
    headers: { label: 'HTTP headers', type: 'list', prefix: '+', private: true, pattern: HEADER_PAIR }
  },
  rendering: { limits: { title: 255, text: 4000 } },

  async prepare (values, ask) {
    const users: string[] = []
    for (const target of values.list('targets')) {
      users.push(...(target.startsWith('#') ? await listMembers(values, target.slice(1), ask) : [target.replace(/^@/, '')]))
    }
    return { targets: [...new Set(users)] }
  },

  toRequests (values, { title, text }) {
    const isOld = (values.number('version') ?? MOVED_IN_VERSION) < MOVED_IN_VERSION
    const path = isOld ? 'apps/admin_notifications/api/v1/notifications' : 'apps/notifications/api/v2/admin_notifications'
    return values.list('targets').map((user) => ({
      url: `${toBase(values)}/ocs/v2.php/${path}/${encodeURIComponent(user)}`,
      headers: { ...HEADERS, ...values.login, ...toPairs(values.list('headers')) },
      form: { shortMessage: title, longMessage: text }
    }))
  }
})

function toBase ({ text, origin }: Values): string {
  const prefix = text('url_prefix').replace(/^\/|\/$/g, '')
  return prefix === '' ? origin : `${origin}/${prefix}`
}

async function listMembers (values: Values, group: string, ask: SendRequest): Promise<string[]> {
  const path = group === 'all' ? 'users' : `groups/${encodeURIComponent(group)}`
  const { json } = await ask({
    method: 'GET',
    url: `${toBase(values)}/ocs/v1.php/cloud/${path}`,
    query: { format: 'json' },
    headers: { ...HEADERS, ...values.login, ...toPairs(values.list('headers')) }
  })
  const data = readFields(readFields(json, 'ocs') ?? {}, 'data')
  const users: unknown[] = isFields(data) && Array.isArray(data.users) ? data.users : []
  const names = users.filter((user) => typeof user === 'string')
  if (names.length === 0) throw new ServiceDownError(`Nextcloud lists no users in the group '${group}'; check the name of the group`)
  return names
}
