import { defineService, HOST_FIELDS, HOST_PORT } from '../service.ts'
import { escapeByBackslash } from '../text.ts'

// Request: https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
// Card: https://adaptivecards.io/explorer/TextBlock.html, whose text is a subset of Markdown
const NATIVE = /^(\/powerautomate\/automations\/direct)?\/workflows\/([\w-]+)\/triggers\/manual\/paths\/invoke\/?$/
const VERSIONS = { plain: '2016-06-01', automate: '2022-03-01-preview' }

export const workflows = defineService({
  name: 'Microsoft Teams workflow',
  setupUrl: 'https://support.microsoft.com/en-us/office/browse-and-add-workflows-in-microsoft-teams-4998095c-8b72-4b0e-984c-f2ad39e6ba9a',
  secure: ['workflow', 'workflows'],
  templates: [`${HOST_PORT}/{workflow}/{signature}`],
  fields: {
    ...HOST_FIELDS,
    workflow: { label: 'Workflow ID', type: 'string', required: true, private: true, pattern: /^[\w-]+$/ },
    signature: { label: 'Signature', type: 'string', required: true, private: true, pattern: /^[\w-]+$/ },
    pa: { label: 'Power Automate address', type: 'bool', default: false },
    wrap: { label: 'Wrap the text', type: 'bool', default: true },
    ver: { label: 'API version', type: 'string', pattern: /^[\w.-]+$/ }
  },
  aliases: { id: 'workflow', sig: 'signature', powerautomate: 'pa', 'api-version': 'ver' },
  defaultOptions: ['image=no'],
  nativeQuery: ['api-version', 'sp', 'sv', 'sig'],
  urlFields: ['host', 'port', 'workflow', 'signature', 'pa', 'ver'],
  rendering: { limits: { title: 250, text: 4000 }, hasLinkField: true, escape: escapeByBackslash('\\*_[]') },

  readNative (url) {
    const [, automate, workflow] = NATIVE.exec(url.pathname) ?? []
    const signature = url.searchParams.get('sig')
    if (workflow === undefined || signature === null) return null
    const version = url.searchParams.get('api-version')
    const isDefaultVersion = version === (automate === undefined ? VERSIONS.plain : VERSIONS.automate)
    return {
      host: url.hostname, port: url.port, workflow, signature, pa: automate !== undefined, ver: isDefaultVersion
        ? null
        : version
    }
  },

  toRequests ({ text, flag, origin }, { title, text: body, link }) {
    const path = flag('pa') ? '/powerautomate/automations/direct' : ''
    const version = text('ver') || (flag('pa') ? VERSIONS.automate : VERSIONS.plain)
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [
        { type: 'TextBlock', text: title, weight: 'Bolder', size: 'Large', wrap: true },
        { type: 'TextBlock', text: body, wrap: flag('wrap') }
      ],
      actions: link === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open', url: link }]
    }
    return [{
      url: `${origin}${path}/workflows/${text('workflow')}/triggers/manual/paths/invoke`,
      query: { 'api-version': version, sp: '/triggers/manual/run', sv: '1.0', sig: text('signature') },
      json: { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }] }
    }]
  }
})
