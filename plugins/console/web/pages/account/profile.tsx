import { api, call } from '../../api/client.ts'
import { type User, updateAccount } from '../../api/session.ts'
import { LANGUAGES, chooseLanguage, languageOf, texts } from '../../i18n/language.ts'
import { chooseTheme, theme } from '../../theme.ts'
import { Button } from '../../ui/button.tsx'
import { PasswordField, Select, TextField } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Notice } from '../../ui/state.tsx'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'
import { AvatarPanel } from './avatar-panel.tsx'
import { Panel } from './panel.tsx'

/** Name, address and the account at RetroAchievements. */
function NamesForm ({ user }: { user: User }) {
  const { common, signIn, account: { profile } } = texts()
  const former = { username: user.username, email: user.email ?? '', ra_username: user.ra_username ?? '' }
  const initial = { ...former, current_password: '' }
  const form = useForm(initial, async ({ current_password: password, ...entered }) => {
    const changed = Object.entries(entered).filter(([name, value]) => former[name as keyof typeof former] !== value)
    const body = { ...Object.fromEntries(changed), ...(password === '' ? {} : { current_password: password }) }
    updateAccount(await call(api.PUT('/api/users/{id}', { params: { path: { id: user.id } }, body })))
    set('current_password', '')
    tellSuccess(common.saved)
  })
  const { values, set, isBusy, failure, errorOf, onSubmit } = form
  return (
    <form onSubmit={onSubmit}>
      {failure?.fields.length === 0 && <Notice kind='failure'>{failure.message}</Notice>}
      <div class='field-row'>
        <TextField
          label={signIn.username} name='username' autocomplete='username' autocapitalize='none' required
          hint={values.username === former.username ? undefined : profile.renameHint}
          error={errorOf('username')} value={values.username} onInput={(value) => { set('username', value) }}
        />
        <TextField
          label={profile.email} hint={profile.emailHint} name='email' type='email' autocomplete='email'
          error={errorOf('email')} value={values.email} onInput={(value) => { set('email', value) }}
        />
      </div>
      {values.email !== former.email && (
        <PasswordField
          label={profile.currentPassword} hint={profile.emailPassword} autocomplete='current-password'
          error={errorOf('current_password')} value={values.current_password}
          onInput={(value) => { set('current_password', value) }}
        />
      )}
      <TextField
        label={profile.achievements} hint={profile.achievementsHint} name='ra_username' autocapitalize='none'
        error={errorOf('ra_username')} value={values.ra_username} onInput={(value) => { set('ra_username', value) }}
      />
      <div><Button type='submit' kind='primary' isBusy={isBusy}>{common.save}</Button></div>
    </form>
  )
}

/** Language and colours, which belong to this browser. */
function Appearance () {
  const { common, account: { profile } } = texts()
  return (
    <Panel title={profile.appearance} text={profile.appearanceText}>
      <div class='field-row'>
        <Select
          label={common.language} value={languageOf()} options={LANGUAGES}
          onChange={(language) => { chooseLanguage(language).catch(tellFailure) }}
        />
        <Select
          label={common.theme.title} value={theme.value} onChange={chooseTheme}
          options={{ system: common.theme.system, light: common.theme.light, dark: common.theme.dark }}
        />
      </div>
    </Panel>
  )
}

/** The public side of the account, and how the console looks. */
export function Profile ({ user }: { user: User }) {
  const { account: { sections } } = texts()
  return (
    <>
      <Panel title={sections.profile}>
        <AvatarPanel user={user} />
        <NamesForm key={user.updated_at} user={user} />
      </Panel>
      <Appearance />
    </>
  )
}
