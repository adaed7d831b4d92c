import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Notice } from '../../ui/state.tsx'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'
import type { Channel } from './views.ts'

const FORM = 'code-form'
interface CodeDialogProps { channel: Channel, onClose: () => void, onConfirmed: (channel: Channel) => void }

/** Asks for the code that the server sent to the destination of a channel. */
export function CodeDialog ({ channel: { id, name, target }, onClose, onConfirmed }: CodeDialogProps) {
  const { common, account: { channels } } = texts()
  const [isSending, setSending] = useState(false)
  const params = { path: { channel_id: id } }
  const { values, set, isBusy, failure, onSubmit } = useForm({ code: '' }, async ({ code }) => {
    onConfirmed(await call(api.POST('/api/notification-channels/{channel_id}/confirm', { params, body: { code: code.trim() } })))
    tellSuccess(channels.confirmed(name))
    onClose()
  })
  async function resend (): Promise<void> {
    setSending(true)
    try {
      await call(api.POST('/api/notification-channels/{channel_id}/resend-code', { params }))
      tellSuccess(channels.codeSent(target))
    } catch (err) {
      tellFailure(err)
    }
    setSending(false)
  }
  return (
    <Dialog
      title={channels.enterCode} isOpen onClose={onClose}
      foot={
        <>
          <Button isBusy={isSending} onClick={() => { void resend() }}>{channels.resend}</Button>
          <Button kind='primary' type='submit' form={FORM} isBusy={isBusy}>{common.save}</Button>
        </>
      }
    >
      <form id={FORM} class='stack' onSubmit={onSubmit}>
        {failure !== null && <Notice kind='failure'>{failure.message}</Notice>}
        <TextField
          label={channels.code} hint={channels.codeSent(target)} autocomplete='one-time-code' required autofocus maxLength={16}
          value={values.code} onInput={(code) => { set('code', code) }}
        />
      </form>
    </Dialog>
  )
}
