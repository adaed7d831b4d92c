import bell from 'lucide/dist/esm/icons/bell-ring.mjs'
import mail from 'lucide/dist/esm/icons/mail.mjs'
import plus from 'lucide/dist/esm/icons/plus.mjs'
import webhook from 'lucide/dist/esm/icons/webhook.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { cache, useResource } from '../../api/resource.ts'
import { format, texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Badge, Empty, Loaded, Skeleton } from '../../ui/state.tsx'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'
import { ChannelDialog } from './channel-dialog.tsx'
import { CodeDialog } from './code-dialog.tsx'
import { Panel } from './panel.tsx'
import type { Channel } from './views.ts'

const KEY = 'notification-channels'
const ICONS: Readonly<Record<string, typeof bell>> = { email: mail, webhook }

const replace = (channel: Channel) => {
  cache.set<Channel[]>(KEY, (all) => all?.map((one) => one.id === channel.id ? channel : one))
}

async function switchChannel ({ id, enabled }: Channel): Promise<void> {
  replace(await call(api.PATCH('/api/notification-channels/{channel_id}', {
    params: { path: { channel_id: id } }, body: { enabled: !enabled }
  })))
}

interface RowProps { channel: Channel, onEdit: () => void, onConfirmCode: () => void, onDelete: () => void }

function ChannelRow ({ channel, onEdit, onConfirmCode, onDelete }: RowProps) {
  const { common, account: { channels } } = texts()
  const { ago, list } = format()
  const [isTesting, setTesting] = useState(false)
  const { id, name, type, target, enabled, confirmed, topics } = channel
  const { last_error: error, last_delivered_at: delivered } = channel

  async function test (): Promise<void> {
    setTesting(true)
    try {
      const params = { path: { channel_id: id } }
      const outcome = await call(api.POST('/api/notification-channels/{channel_id}/test', { params }))
      if (outcome.ok) tellSuccess(channels.tested(name))
      else tellFailure(new Error(outcome.error ?? channels.testFailed))
      cache.invalidate(KEY)
    } catch (err) {
      tellFailure(err)
    }
    setTesting(false)
  }

  const wanted = topics === null ? channels.allTopics : list(topics.map((topic) => channels.topicOf(topic)))
  return (
    <li class='row row-wide'>
      <Icon node={ICONS[type] ?? bell} />
      <div class='row-text'>
        <div class='row-title'>
          {name}
          {!confirmed && <Badge kind='warning'>{channels.unconfirmed}</Badge>}
          {!enabled && <Badge>{channels.off}</Badge>}
        </div>
        <p class='faint'>{[channel.service_name, target].filter(Boolean).join(' · ')}</p>
        <p class='faint'>{wanted}{delivered !== null && ` · ${channels.delivered(ago(delivered))}`}</p>
        {error !== null && <p class='row-problem'>{channels.lastError(error)}</p>}
      </div>
      <div class='row-actions'>
        {confirmed && (
          <Button isSmall isBusy={isTesting} aria-label={channels.testNamed(name)} onClick={() => { void test() }}>
            {channels.test}
          </Button>
        )}
        {!confirmed && <Button isSmall kind='primary' onClick={onConfirmCode}>{channels.enterCode}</Button>}
        <Button isSmall kind='quiet' aria-label={channels.editNamed(name)} onClick={onEdit}>{channels.edit}</Button>
        <Button
          isSmall kind='quiet' aria-label={enabled ? channels.turnOffNamed(name) : channels.turnOnNamed(name)}
          onClick={() => { switchChannel(channel).catch(tellFailure) }}
        >
          {enabled ? channels.turnOff : channels.turnOn}
        </Button>
        <Button isSmall kind='danger' aria-label={channels.deleteNamed(name)} onClick={onDelete}>{common.remove}</Button>
      </div>
    </li>
  )
}

/** The ways on which notifications leave the inbox. */
export function Channels () {
  const { common, account: { channels } } = texts()
  const load = (signal: AbortSignal) => call(api.GET('/api/notification-channels', { signal }))
  const all = useResource(KEY, load, { 'notifications:new': true })
  const [edited, setEdited] = useState<Channel | 'new' | null>(null)
  const [confirming, setConfirming] = useState<Channel | null>(null)
  const [deleting, setDeleting] = useState<Channel | null>(null)
  const add = <Button icon={plus} kind='primary' onClick={() => { setEdited('new') }}>{channels.add}</Button>
  return (
    <Panel title={channels.title} text={channels.text} action={(all.data.value?.length ?? 0) > 0 && add}>
      <Loaded resource={all} skeleton={<Skeleton height='10rem' />}>
        {(list) => list.length === 0
          ? <Empty icon={bell} title={channels.none.title} text={channels.none.text}>{add}</Empty>
          : (
            <ul class='rows'>
              {list.map((channel) => (
                <ChannelRow
                  key={channel.id} channel={channel} onEdit={() => { setEdited(channel) }}
                  onConfirmCode={() => { setConfirming(channel) }} onDelete={() => { setDeleting(channel) }}
                />
              ))}
            </ul>
            )}
      </Loaded>
      {edited !== null && (
        <ChannelDialog
          channel={edited === 'new' ? null : edited} onClose={() => { setEdited(null) }}
          onSaved={(saved) => {
            setEdited(null)
            if (!saved.confirmed) setConfirming(saved)
            cache.reload(KEY).catch(tellFailure)
          }}
        />
      )}
      {confirming !== null && (
        <CodeDialog channel={confirming} onClose={() => { setConfirming(null) }} onConfirmed={replace} />
      )}
      <Confirm
        title={channels.deleteNamed(deleting?.name ?? '')} text={channels.deleteText} action={common.remove}
        isOpen={deleting !== null}
        onClose={() => { setDeleting(null) }}
        onConfirm={async () => {
          if (deleting === null) return
          const params = { path: { channel_id: deleting.id } }
          await call(api.DELETE('/api/notification-channels/{channel_id}', { params }))
          cache.set<Channel[]>(KEY, (former) => former?.filter(({ id }) => id !== deleting.id))
        }}
      />
    </Panel>
  )
}
