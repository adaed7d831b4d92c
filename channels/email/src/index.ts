import { InvalidSettingsError, defineChannel } from '@svc/plugin-sdk'
import { ConfigSchema, type EmailContext, SettingsSchema, isAddress } from './config.ts'
import { type Mail, renderConfirmation, renderNotification } from './render.ts'
import { TIMEOUT_MS, sendMail } from './send.ts'

async function send (mail: Mail, { config, signal }: EmailContext): Promise<void> {
  if (!isAddress(mail.to)) {
    throw new InvalidSettingsError(`address ${JSON.stringify(mail.to)} is not the address of one recipient; correct it`)
  }
  await sendMail(mail, config, { signal })
}

export default defineChannel({
  key: 'email',
  name: 'Email',
  config: ConfigSchema,
  settings: SettingsSchema,
  // Longer than one mail takes, because the mail's own error says more.
  limits: { perMinute: 30, timeoutMs: TIMEOUT_MS + 5_000 },

  async deliver (notification, { address }, ctx: EmailContext) {
    await send(renderNotification(notification, address, ctx.config.from), ctx)
  },

  async confirm (code, { address }, ctx: EmailContext) {
    await send(renderConfirmation(code, address), ctx)
  },

  describe ({ address }) {
    return address
  }
})
