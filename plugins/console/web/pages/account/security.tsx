import monitor from 'lucide/dist/esm/icons/monitor.mjs'
import phone from 'lucide/dist/esm/icons/smartphone.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { Failure } from '../../api/failure.ts'
import { cache, useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { type User, changePassword } from '../../api/session.ts'
import { format, texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Check, PasswordField } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Icon } from '../../ui/icon.tsx'
import { Badge, Loaded, Notice, Skeleton } from '../../ui/state.tsx'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'
import { NewPasswordField } from '../sign-in/new-password-field.tsx'
import { Panel } from './panel.tsx'
import { readAgent } from './user-agent.ts'

type Session = components['schemas']['Session']
const KEY = 'sessions'

function PasswordForm ({ user }: { user: User }) {
  const { signIn, account: { profile, security } } = texts()
  const initial = { current: '', password: '', again: '', keepsApps: true }
  const form = useForm(initial, async ({ current, password, again, keepsApps }) => {
    if (password !== again) throw new Failure(0, signIn.first.differ)
    const proof = current === '' ? {} : { current_password: current }
    await changePassword(user, { ...proof, password, keep_tokens: keepsApps })
    tellSuccess(security.changed)
    for (const name of ['current', 'password', 'again'] as const) form.set(name, '')
    await cache.reload(KEY)
  })
  const { values, set, isBusy, failure, errorOf, onSubmit } = form
  return (
    <Panel title={security.password} text={security.passwordText}>
      <form onSubmit={onSubmit}>
        {failure?.fields.length === 0 && <Notice kind='failure'>{failure.message}</Notice>}
        <input type='text' hidden name='username' autocomplete='username' value={user.username} readOnly />
        <PasswordField
          label={profile.currentPassword} hint={security.currentHint} name='current-password' autocomplete='current-password'
          error={failure?.fields.find(({ path }) => path.at(-1) === 'current_password')?.message}
          value={values.current} onInput={(value) => { set('current', value) }}
        />
        <div class='field-row'>
          <NewPasswordField
            label={signIn.reset.password} name='new-password' username={user.username} error={errorOf('password')}
            value={values.password} onInput={(value) => { set('password', value) }}
          />
          <PasswordField
            label={signIn.first.again} name='again' autocomplete='new-password' required
            value={values.again} onInput={(value) => { set('again', value) }}
          />
        </div>
        <Check
          label={security.keepApps} hint={security.keepAppsHint} isChecked={values.keepsApps}
          onChange={(isChecked) => { set('keepsApps', isChecked) }}
        />
        <div><Button type='submit' kind='primary' isBusy={isBusy}>{signIn.reset.submit}</Button></div>
      </form>
    </Panel>
  )
}

async function endSession ({ id }: Session): Promise<void> {
  await call(api.DELETE('/api/sessions/{id}', { params: { path: { id } } }))
  cache.set<Session[]>(KEY, (sessions) => sessions?.filter((session) => session.id !== id))
  tellSuccess(texts().account.security.ended)
}

function SessionRow ({ session }: { session: Session }) {
  const { security } = texts().account
  const { ago, dateTime } = format()
  const [isEnding, setEnding] = useState(false)
  const { last_seen: seen } = session
  const { app, system, isPhone } = readAgent(session.user_agent)
  const name = app === null && system === null ? security.unknownDevice : security.device(app, system)
  async function end (): Promise<void> {
    setEnding(true)
    await endSession(session).catch(tellFailure)
    setEnding(false)
  }
  return (
    <li class='row'>
      <Icon node={isPhone ? phone : monitor} />
      <div class='row-text'>
        <div class='row-title' title={session.user_agent}>
          {name}{session.is_current && <Badge kind='success'>{security.current}</Badge>}
        </div>
        <p class='faint'>
          {security.place(session.address)}
          {' · '}
          <time dateTime={seen} title={dateTime(seen)}>{security.seen(ago(seen))}</time>
        </p>
      </div>
      {!session.is_current && (
        <div class='row-actions'>
          <Button isSmall isBusy={isEnding} aria-label={security.endNamed(name)} onClick={() => { void end() }}>
            {security.end}
          </Button>
        </div>
      )}
    </li>
  )
}

const bySight = (a: Session, b: Session) =>
  Number(b.is_current) - Number(a.is_current) || b.last_seen.localeCompare(a.last_seen)

function Sessions () {
  const { security } = texts().account
  const [isAsking, setAsking] = useState(false)
  const sessions = useResource(KEY, (signal) => call(api.GET('/api/sessions', { signal })))
  const hasOthers = (sessions.data.value?.length ?? 0) > 1
  return (
    <Panel
      title={security.sessions} text={security.sessionsText}
      action={hasOthers && <Button kind='danger' isSmall onClick={() => { setAsking(true) }}>{security.endOthers}</Button>}
    >
      <Loaded resource={sessions} skeleton={<Skeleton height='8rem' />}>
        {(all) => (
          <ul class='rows'>{all.toSorted(bySight).map((session) => <SessionRow key={session.id} session={session} />)}</ul>
        )}
      </Loaded>
      <Confirm
        title={security.endOthers} text={security.endOthersText} action={security.endOthers} isOpen={isAsking}
        onClose={() => { setAsking(false) }}
        onConfirm={async () => {
          await call(api.DELETE('/api/sessions', {}))
          await cache.reload(KEY)
          tellSuccess(security.othersEnded)
        }}
      />
    </Panel>
  )
}

/** The password, and the browsers that are signed in. */
export const Security = ({ user }: { user: User }) => <><PasswordForm user={user} /><Sessions /></>
