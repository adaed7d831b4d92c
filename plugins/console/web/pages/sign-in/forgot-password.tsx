import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { session } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Notice } from '../../ui/state.tsx'
import { Entrance } from './entrance.tsx'

/** True if the server mails links for a new password. */
const mailsLinks = (): boolean =>
  session.value.state !== 'starting' && session.value.heartbeat.NOTIFICATIONS.EMAILS_RESET_LINKS

/** Asks for a link by mail. The answer is the same for every name, so it tells nobody which accounts exist. */
export default function ForgotPassword () {
  const { signIn: words } = texts()
  const { title, text, submit, sent, noMail } = words.forgotten
  const [isSent, setSent] = useState(false)
  const { values, set, isBusy, failure, onSubmit } = useForm({ username: '' }, async (body) => {
    await call(api.POST('/api/forgot-password', { body }))
    setSent(true)
  })
  const back = <LinkButton isWide href='sign-in'>{words.toSignIn}</LinkButton>
  if (!mailsLinks()) return <Entrance title={title}><Notice>{noMail}</Notice>{back}</Entrance>
  if (isSent) return <Entrance title={title}><Notice>{sent}</Notice>{back}</Entrance>
  return (
    <Entrance title={title} text={text}>
      <form onSubmit={onSubmit}>
        {failure !== null && <Notice kind='failure'>{failure.message}</Notice>}
        <TextField
          label={words.username} name='username' autocomplete='username' autocapitalize='none' required autofocus
          value={values.username} onInput={(value) => { set('username', value) }}
        />
        <Button type='submit' kind='primary' isWide isBusy={isBusy}>{submit}</Button>
      </form>
      {back}
    </Entrance>
  )
}
