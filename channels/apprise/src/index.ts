import { defineChannel } from '@svc/plugin-sdk'
import { fetchBridged, listBridged } from './bridge.ts'
import { describeService, findBuiltIn, readAddress, refuseWhiteSpace, resolve } from './catalogue.ts'
import { describeAddress, describeUnknown, listSecretKeys, nameUnknown } from './describe.ts'
import { checkRequests, sendNotification } from './send.ts'
import { SERVICES } from './services/index.ts'
import { ConfigSchema, SettingsSchema } from './settings.ts'

// Several targets take several requests of up to 15 s each.
const DELIVERY_TIMEOUT_MS = 120_000

export default defineChannel({
  key: 'apprise',
  name: 'Apprise',
  adminOnly: true,
  config: ConfigSchema,
  settings: SettingsSchema,
  limits: { perMinute: 60, timeoutMs: DELIVERY_TIMEOUT_MS },

  async deliver (notification, settings, ctx) {
    const { service, fields } = await resolve(settings, ctx)
    await sendNotification(service, fields, notification, ctx)
  },

  async check (settings, ctx) {
    const { service, fields } = await resolve(settings, ctx)
    checkRequests(service, fields)
  },

  describe ({ service, fields }) {
    const form = findBuiltIn(service)
    return form === undefined ? describeUnknown(service, fields) : describeAddress(form, fields)
  },

  destination ({ service, fields }) {
    const form = findBuiltIn(service)
    return form === undefined ? nameUnknown(service, fields) : describeAddress(form, fields)
  },

  secretKeys: ({ service, fields }) => listSecretKeys(findBuiltIn(service), fields),

  async services (ctx) {
    const forms = [...SERVICES, ...await listBridged(ctx)]
    return forms.map(describeService).sort((a, b) => a.name.localeCompare(b.name, 'en'))
  },

  parse (text, ctx) {
    const url = text.trim()
    refuseWhiteSpace(url)
    const settings = readAddress(url, SERVICES)
    if (settings !== null || ctx?.config.apiUrl === undefined) return settings
    return fetchBridged(ctx).then((forms) => readAddress(url, forms))
  }
})
