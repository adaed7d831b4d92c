import key from 'lucide/dist/esm/icons/key-round.mjs'
import plus from 'lucide/dist/esm/icons/plus.mjs'
import smartphone from 'lucide/dist/esm/icons/smartphone.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { cache, useResource } from '../../api/resource.ts'
import type { User } from '../../api/session.ts'
import { format, texts } from '../../i18n/language.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Badge, Empty, Loaded, Skeleton } from '../../ui/state.tsx'
import { tellSuccess } from '../../ui/toast.tsx'
import { Panel } from './panel.tsx'
import { PairingDialog } from './pairing-dialog.tsx'
import { describeScope } from './scopes.tsx'
import { TokenDialog } from './token-dialog.tsx'
import type { Token } from './views.ts'

const KEY = 'client-tokens'

interface RowProps { token: Token, onPair: () => void, onRevoke: () => void }

function TokenRow ({ token, onPair, onRevoke }: RowProps) {
  const { name, scopes, expires_at: expires, last_used_at: used, device_id: device } = token
  const { tokens } = texts().account
  const { ago, date, list } = format()
  const isExpired = expires !== null && new Date(expires) < new Date()
  const facts = [
    used === null ? tokens.unused : tokens.used(ago(used)),
    expires === null ? tokens.endless : isExpired ? tokens.expired : tokens.expires(date(expires))
  ]
  return (
    <li class='row'>
      <Icon node={device === null ? key : smartphone} />
      <div class='row-text'>
        <div class='row-title'>{name}{isExpired && <Badge kind='warning'>{tokens.expired}</Badge>}</div>
        <p class='faint'>{facts.join(' · ')}</p>
        <details class='faint'>
          <summary>{tokens.rights(scopes.length)}</summary>
          {list(scopes.map(describeScope))}
        </details>
      </div>
      <div class='row-actions'>
        {device === null && (
          <Button isSmall kind='quiet' aria-label={tokens.pairNamed(name)} onClick={onPair}>{tokens.pair}</Button>
        )}
        <Button isSmall kind='danger' aria-label={tokens.revokeNamed(name)} onClick={onRevoke}>{tokens.revoke}</Button>
      </div>
    </li>
  )
}

/** The tokens of apps and scripts, and the devices that are connected by them. */
export function Tokens ({ user }: { user: User }) {
  const { tokens, connect } = texts().account
  const [isCreating, setCreating] = useState(false)
  const [pairing, setPairing] = useState<Token | null>(null)
  const [revoking, setRevoking] = useState<Token | null>(null)
  const all = useResource(KEY, (signal) => call(api.GET('/api/client-tokens', { signal })))
  const create = <Button icon={plus} kind='primary' onClick={() => { setCreating(true) }}>{tokens.create}</Button>
  return (
    <>
      <Panel
        title={connect.title} text={connect.text}
        action={<LinkButton href='pair/device' icon={smartphone}>{connect.action}</LinkButton>}
      />
      <Panel title={tokens.title} text={tokens.text} action={(all.data.value?.length ?? 0) > 0 && create}>
        <Loaded resource={all} skeleton={<Skeleton height='10rem' />}>
          {(list) => list.length === 0
            ? <Empty icon={key} title={tokens.none.title} text={tokens.none.text}>{create}</Empty>
            : (
              <ul class='rows'>
                {list.map((token) => (
                  <TokenRow
                    key={token.id} token={token}
                    onPair={() => { setPairing(token) }} onRevoke={() => { setRevoking(token) }}
                  />
                ))}
              </ul>
              )}
        </Loaded>
      </Panel>
      {isCreating && (
        <TokenDialog user={user} onClose={() => { setCreating(false) }} onCreated={() => { void cache.reload(KEY) }} />
      )}
      {pairing !== null && <PairingDialog token={pairing} onClose={() => { setPairing(null) }} />}
      <Confirm
        title={tokens.revokeNamed(revoking?.name ?? '')} text={tokens.revokeText} action={tokens.revoke}
        isOpen={revoking !== null}
        onClose={() => { setRevoking(null) }}
        onConfirm={async () => {
          if (revoking === null) return
          await call(api.DELETE('/api/client-tokens/{token_id}', { params: { path: { token_id: revoking.id } } }))
          cache.set<Token[]>(KEY, (list) => list?.filter(({ id }) => id !== revoking.id))
          tellSuccess(tokens.revoked(revoking.name))
        }}
      />
    </>
  )
}
