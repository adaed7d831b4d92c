import { api, call } from '../../api/client.ts'
import { Failure } from '../../api/failure.ts'
import { signIn } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { useView } from '../../navigate.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Notice } from '../../ui/state.tsx'
import { Entrance } from './entrance.tsx'
import { useLinkToken } from './link-token.ts'
import { NewPasswordField } from './new-password-field.tsx'

/** The form of a person who was invited. */
export default function Register () {
  const { signIn: words } = texts()
  const { go } = useView()
  const token = useLinkToken()
  const initial = { username: '', email: '', password: '', again: '' }
  const { values, set, isBusy, failure, errorOf, onSubmit } = useForm(initial, async ({ again, ...account }) => {
    if (account.password !== again) throw new Failure(0, words.first.differ)
    await call(api.POST('/api/users/register', { body: { ...account, token } }))
    await signIn(account.username, account.password)
    go('', true)
  })
  const { title, text, submit, incomplete } = words.register
  if (token === '') {
    return (
      <Entrance title={title}>
        <Notice kind='warning'>{incomplete}</Notice>
        <LinkButton isWide href='sign-in'>{words.toSignIn}</LinkButton>
      </Entrance>
    )
  }
  return (
    <Entrance title={title} text={text}>
      <form onSubmit={onSubmit}>
        {failure?.fields.length === 0 && <Notice kind='failure'>{failure.message}</Notice>}
        <TextField
          label={words.username} name='username' autocomplete='username' autocapitalize='none' required autofocus
          hint={words.usernameRule} error={errorOf('username')} value={values.username} onInput={(value) => { set('username', value) }}
        />
        <TextField
          label={words.first.email} name='email' type='email' autocomplete='email' error={errorOf('email')}
          value={values.email} onInput={(value) => { set('email', value) }}
        />
        <NewPasswordField
          label={words.password} name='new-password' username={values.username} error={errorOf('password')}
          value={values.password} onInput={(value) => { set('password', value) }}
        />
        <PasswordField
          label={words.first.again} name='again' autocomplete='new-password' required
          value={values.again} onInput={(value) => { set('again', value) }}
        />
        <Button type='submit' kind='primary' isWide isBusy={isBusy}>{submit}</Button>
      </form>
    </Entrance>
  )
}
