import { defineService } from '../service.ts'
import { CUSTOM_FIELDS, CUSTOM_TEMPLATES, toCustomRequest, toPayload } from './custom.ts'

// Body: https://github.com/caronc/apprise/wiki/Notify_Custom_JSON
export const json = defineService({
  name: 'JSON',
  setupUrl: 'https://github.com/caronc/apprise/wiki/Notify_Custom_JSON',
  plain: ['json'],
  secure: ['jsons'],
  templates: CUSTOM_TEMPLATES,
  fields: CUSTOM_FIELDS,

  toRequests (values, { title, text: message, type }) {
    const payload = toPayload({ version: '1.0', title, message, type }, values)
    return [{ ...toCustomRequest(values), json: { ...payload, attachments: [] } }]
  }
})
