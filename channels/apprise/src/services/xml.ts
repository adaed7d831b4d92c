import { createXmlElement, renderXml } from '@svc/plugin-sdk/xml'
import { invalidField } from '../fields.ts'
import { defineService } from '../service.ts'
import { CUSTOM_FIELDS, CUSTOM_TEMPLATES, toCustomRequest, toPayload } from './custom.ts'

// Body: https://github.com/caronc/apprise/wiki/Notify_Custom_XML
const NAMESPACES = {
  'xmlns:soapenv': 'http://schemas.xmlsoap.org/soap/envelope/',
  'xmlns:xsd': 'http://www.w3.org/2001/XMLSchema',
  'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance'
}

export const xml = defineService({
  name: 'XML',
  setupUrl: 'https://github.com/caronc/apprise/wiki/Notify_Custom_XML',
  plain: ['xml'],
  secure: ['xmls'],
  templates: CUSTOM_TEMPLATES,
  fields: CUSTOM_FIELDS,

  toRequests (values, { title, text, type }) {
    const payload = toPayload({ Version: '1.1', Subject: title, MessageType: type, Message: text }, values)
    const request = toCustomRequest(values)
    return [{
      ...request,
      headers: { 'content-type': 'application/xml', ...request.headers },
      body: renderEnvelope(payload)
    }]
  }
})

function renderEnvelope (payload: Readonly<Record<string, string>>): string {
  const fields = Object.entries(payload).map(([name, text]) => createXmlElement(toName(name), text))
  const body = createXmlElement('soapenv:Body', [createXmlElement('Notification', fields)])
  return renderXml(createXmlElement('soapenv:Envelope', [body], NAMESPACES), { declaration: true })
}

function toName (name: string): string {
  if (/^[a-z_][\w-]*$/i.test(name)) return name
  throw invalidField(xml, 'cannot use the name of a field in its payload', 'begin the name with a letter and use letters, digits, - and _')
}
