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
  dropped: ['attach-as'],

  toRequests (values, { title, text: message, type }) {
    return [{ ...toCustomRequest(values), form: toPayload({ version: '1.0', title, message, type }, values) }]
  }
})
