import { defineService, HEADER_PAIR, HOST_FIELDS, HOST_PORT, LOGIN, LOGIN_FIELDS, PATH, readOrigin } from '../service.ts'
import { toPairs } from '../values.ts'

// Request: https://github.com/caronc/apprise-api#api-details (POST /notify/{key})
export const apprise = defineService({
  name: 'Apprise API',
  setupUrl: 'https://github.com/caronc/apprise-api',
  plain: ['apprise'],
  secure: ['apprises'],
  templates: [`${LOGIN}${HOST_PORT}[/{path}]/{token}`, `:{password}@${HOST_PORT}[/{path}]/{token}`],
  fields: {
    ...HOST_FIELDS,
    ...LOGIN_FIELDS,
    path: PATH,
    token: { label: 'Key of the configuration', type: 'string', required: true, private: true, pattern: /^[\w-]{1,128}$/ },
    tags: { label: 'Tags', type: 'list' },
    headers: { label: 'HTTP headers', type: 'list', prefix: '+', private: true, pattern: HEADER_PAIR }
  },
  defaultOptions: ['method=json'],
  urlFields: ['schema', 'host', 'port', 'path', 'token'],

  readNative (url) {
    const [, path, token] = /^(?:\/(.+))?\/notify\/([\w-]{1,128})\/?$/.exec(url.pathname) ?? []
    if (token === undefined) return null
    return { ...readOrigin({ plain: 'apprise', secure: 'apprises' }, url), path, token }
  },

  toRequests ({ text, list, origin, login }, { title, text: body, type }) {
    const path = text('path') === '' ? '' : `/${text('path')}`
    // Apprise treats a space like a comma.
    const tags = list('tags').flatMap((tag) => tag.split(/\s+/))
    return [{
      url: `${origin}${path}/notify/${text('token')}`,
      headers: { accept: 'application/json', ...login, ...toPairs(list('headers')) },
      json: { title, body, type, format: 'text', tag: tags.length > 0 ? tags : undefined }
    }]
  },

  // Status 204 means that the configuration is empty.
  isAccepted: ({ status }) => status === 200
})
