import { defineService } from '../service.ts'
import { CUSTOM_FIELDS, CUSTOM_TEMPLATES, toCustomRequest, toPayload } from './custom.ts'

// Body: https://github.com/caronc/apprise/wiki/Notify_Custom_Form
export const form = defineService({
  name: 'Form',
  setupUrl: 'https://github.com/caronc/apprise/wiki/Notify_Custom_Form',
  plain: ['form'],
  secure: ['forms'],
  templates: CUSTOM_TEMPLATES,
  fields: CUSTOM_FIELDS,

  toRequests (values, { title, text: message, type }) {
    const request = toCustomRequest(values)
    const payload = toPayload({ version: '1.0', title, message, type }, values)
    // Browsers also send a form with GET in the query.
    return [request.method === 'GET' ? { ...request, query: { ...request.query, ...payload } } : { ...request, form: payload }]
  }
})
