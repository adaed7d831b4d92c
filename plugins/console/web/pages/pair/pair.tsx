import smartphone from 'lucide/dist/esm/icons/smartphone.mjs'
import check from 'lucide/dist/esm/icons/circle-check.mjs'
import ban from 'lucide/dist/esm/icons/ban.mjs'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { type Failure, toFailure } from '../../api/failure.ts'
import type { components } from '../../api/schema.d.ts'
import { accountOf } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { useTitle } from '../../navigate.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Icon } from '../../ui/icon.tsx'
import { Empty, Notice, Skeleton } from '../../ui/state.tsx'
import { tellFailure } from '../../ui/toast.tsx'
import { ScopeList } from '../account/scopes.tsx'

type Pending = components['schemas']['DeviceAuthPending']
type Lifetime = '30d' | '90d' | '1y' | 'never'
interface Waiting { code: string, device: Pending }

const loadPending = async (code: string): Promise<Waiting> => ({
  code,
  device: await call(api.GET('/api/auth/device/pending/{user_code}', { params: { path: { user_code: code } } }))
})

/** The form for a code that the address does not hold. */
function CodeForm ({ problem, onFound }: { problem: Failure | null, onFound: (waiting: Waiting) => void }) {
  const { pair } = texts()
  const { values, set, isBusy, failure, onSubmit } = useForm({ code: '' },
    async ({ code }) => { onFound(await loadPending(code.trim())) })
  const shown = failure ?? problem
  return (
    <form class='stack' onSubmit={onSubmit}>
      {shown !== null && <Notice kind='failure'>{shown.message}</Notice>}
      <TextField
        label={pair.code} hint={pair.codeHint} name='user_code' autocomplete='one-time-code' required autofocus maxLength={32}
        value={values.code} onInput={(value) => { set('code', value.toUpperCase()) }}
      />
      <div><Button type='submit' kind='primary' isBusy={isBusy}>{pair.find}</Button></div>
    </form>
  )
}

interface AnswerProps { waiting: Waiting, onAnswered: (isApproved: boolean) => void }

/** Shows the device that waits, with the rights that it wants. */
function AnswerForm ({ waiting: { code, device }, onAnswered }: AnswerProps) {
  const { pair, account } = texts()
  const [isDenying, setDenying] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  // Otherwise the button that approves gets the focus of the one before, and a second Enter approves unread rights.
  useLayoutEffect(() => { box.current?.focus() }, [])
  const initial: { name: string, scopes: string[], lifetime: Lifetime } = { name: device.name, scopes: device.allowed_scopes, lifetime: 'never' }
  const { values, set, isBusy, failure, errorOf, onSubmit } = useForm(initial, async ({ name, scopes, lifetime }) => {
    await call(api.POST('/api/auth/device/approve', {
      body: { user_code: code, approved_scopes: scopes, device_name: name, expires_in: lifetime }
    }))
    onAnswered(true)
  })
  async function deny (): Promise<void> {
    setDenying(true)
    try {
      await call(api.POST('/api/auth/device/deny', { body: { user_code: code } }))
      onAnswered(false)
    } catch (err) {
      tellFailure(err)
      setDenying(false)
    }
  }
  const app = [device.client, device.client_version].filter(Boolean).join(' ')
  return (
    <form class='stack' onSubmit={onSubmit}>
      {failure !== null && <Notice kind='failure'>{failure.message}</Notice>}
      <div class='pair-device' tabIndex={-1} ref={box}>
        <Icon node={smartphone} />
        <div>
          <h2>{[device.name, device.platform].filter(Boolean).join(', ')}</h2>
          <p class='faint'>{app}</p>
        </div>
        <strong class='pair-code'>{code}</strong>
      </div>
      <Notice kind='warning'>{pair.warning(accountOf()?.username ?? '')}</Notice>
      <ScopeList
        label={pair.scopes} offered={device.requested_scopes} held={device.allowed_scopes} chosen={values.scopes}
        onChange={(scopes) => { set('scopes', scopes) }}
      />
      <TextField
        label={pair.name} maxLength={255} required error={errorOf('name')} value={values.name}
        onInput={(name) => { set('name', name) }}
      />
      <Select
        label={account.tokens.lifetime} value={values.lifetime} options={account.tokens.lifetimes}
        onChange={(lifetime) => { set('lifetime', lifetime) }}
      />
      <div class='cluster'>
        <Button type='submit' kind='primary' isBusy={isBusy} disabled={values.scopes.length === 0}>{pair.approve}</Button>
        <Button kind='danger' isBusy={isDenying} isBlocked={isBusy} onClick={() => { void deny() }}>{pair.deny}</Button>
      </div>
    </form>
  )
}

/** Approves a device that shows a code, such as a handheld. A QR code on the device opens this page with the code. */
export default function PairDevice () {
  const { pair } = texts()
  useTitle(pair.title)
  const [asked] = useState(() => new URLSearchParams(location.search).get('user_code') ?? '')
  const [waiting, setWaiting] = useState<Waiting | null>(null)
  const [problem, setProblem] = useState<Failure | null>(null)
  const [isApproved, setApproved] = useState<boolean | null>(null)
  useEffect(() => {
    if (asked !== '') loadPending(asked.toUpperCase()).then(setWaiting, (err: unknown) => { setProblem(toFailure(err)) })
  }, [asked])
  if (isApproved !== null) {
    const { title, text } = isApproved ? pair.approved : pair.denied
    return (
      <div role='status'>
        <Empty icon={isApproved ? check : ban} title={title} text={text}><LinkButton href='./'>{pair.home}</LinkButton></Empty>
      </div>
    )
  }
  const isLoading = asked !== '' && waiting === null && problem === null
  return (
    <div class='narrow'>
      <div class='page-head'><h1>{pair.title}</h1></div>
      {isLoading && <Skeleton height='24rem' />}
      {!isLoading && (waiting === null
        ? <div class='card'><CodeForm problem={problem} onFound={setWaiting} /></div>
        : <div class='card'><AnswerForm waiting={waiting} onAnswered={setApproved} /></div>)}
    </div>
  )
}
