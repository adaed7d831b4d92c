import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { isAdministrator } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Check, Select, TextField } from '../../ui/field.tsx'
import { readNode } from '../../ui/form/node.ts'
import { SchemaForm } from '../../ui/form/schema-form.tsx'
import { Loaded, Skeleton } from '../../ui/state.tsx'
import { createServiceSchema } from './apprise-form.ts'
import type { Channel } from './views.ts'
import { listChannelKeys, usePluginSchemas } from './plugin-schemas.ts'

type Topic = 'scans' | 'tasks' | 'streaming' | 'devices' | 'account' | 'custom'
const TOPICS: readonly Topic[] = ['scans', 'tasks', 'streaming', 'devices', 'account', 'custom']
const isTopic = (name: string): name is Topic => TOPICS.some((topic) => topic === name)
type Service = components['schemas']['AppriseService']
type Settings = Readonly<Record<string, unknown>>

/** The part of a channel that all types share. */
interface Common { name: string, min_level: Channel['min_level'], topics: Topic[] | null }

interface ChannelDialogProps {
  /** Null for a new channel. */
  channel: Channel | null
  onClose: () => void
  onSaved: (channel: Channel) => void
}

async function save (channel: Channel | null, type: string, shared: Common, settings: Settings): Promise<Channel> {
  const body = { ...shared, ...settings }
  return channel === null
    ? await call(api.POST('/api/notification-channels', { body: { ...body, type } }))
    : await call(api.PATCH('/api/notification-channels/{channel_id}', { params: { path: { channel_id: channel.id } }, body }))
}

interface CommonFieldsProps { value: Common, onChange: (value: Common) => void }

/** Name, least level and topics. All topics mean also those of later versions. */
function CommonFields ({ value, onChange }: CommonFieldsProps) {
  const { channels } = texts().account
  const chosen = value.topics ?? TOPICS
  function choose (topic: Topic, isChosen: boolean): void {
    const next = TOPICS.filter((one) => one === topic ? isChosen : chosen.includes(one))
    onChange({ ...value, topics: next.length === TOPICS.length ? null : next })
  }
  return (
    <>
      <TextField
        label={channels.name} required maxLength={100} value={value.name} autocomplete='off'
        onInput={(name) => { onChange({ ...value, name }) }}
      />
      <Select
        label={channels.level} value={value.min_level} options={channels.levels}
        onChange={(level) => { onChange({ ...value, min_level: level }) }}
      />
      <fieldset class='scope-list'>
        <legend class='field-label'>{channels.topics}</legend>
        {TOPICS.map((topic) => (
          <Check
            key={topic} label={channels.topicOf(topic)} isChecked={chosen.includes(topic)}
            onChange={(isChecked) => { choose(topic, isChecked) }}
          />
        ))}
      </fieldset>
    </>
  )
}

/**
 * Returns the names of the settings that the server has: it tells none of a channel without services. Settings that the
 * server cannot decrypt any more have no target, and must be entered again.
 */
function listStored (schema: unknown, channel: Channel | null): string[] {
  const node = readNode(schema)
  if (channel === null || channel.target === '' || node.kind !== 'object') return []
  const { has_secret: hasSecret } = channel
  return node.fields
    .filter(({ isRequired, node: inner }) => inner.kind === 'text' && inner.isSecret ? hasSecret : isRequired)
    .map(({ name }) => name)
}

interface AppriseProps { channel: Channel | null, onSubmit: (settings: Settings) => Promise<void> }

/** The service and its fields of an Apprise channel. */
function AppriseForm ({ channel, onSubmit }: AppriseProps) {
  const { common, account: { channels } } = texts()
  const [chosen, setChosen] = useState<string | null>(channel?.service ?? null)
  const services = useResource('apprise-services', (signal) => call(api.GET('/api/notification-channels/apprise-services', { signal })))
  return (
    <Loaded resource={services} skeleton={<Skeleton height='12rem' />}>
      {(all: Service[]) => {
        const service = all.find(({ id }) => id === chosen)
        return (
          <div class='stack'>
            <Combobox
              label={channels.service} options={all.map(({ id, name }) => ({ value: id, label: name }))} value={chosen}
              onChange={setChosen}
            />
            {service?.setup_url != null && (
              <p class='field-hint'><a href={service.setup_url} target='_blank' rel='noreferrer'>{channels.setUp(service.name)}</a></p>
            )}
            {service !== undefined && (
              <SchemaForm
                key={service.id} schema={createServiceSchema(service)} submit={common.save}
                values={channel?.service === service.id ? channel.fields ?? {} : {}}
                stored={channel?.service === service.id ? channel.stored_secrets ?? [] : []}
                onSubmit={async (fields) => { await onSubmit({ service: service.id, fields }) }}
              />
            )}
          </div>
        )
      }}
    </Loaded>
  )
}

/** Adds or changes a channel. The form of its settings comes from the schema of its plugin. */
export function ChannelDialog ({ channel, onClose, onSaved }: ChannelDialogProps) {
  const { common, account: { channels } } = texts()
  const schemas = usePluginSchemas()
  const [type, setType] = useState(channel?.type ?? 'webhook')
  const [shared, setShared] = useState<Common>({
    name: channel?.name ?? '', min_level: channel?.min_level ?? 'info', topics: channel?.topics?.filter(isTopic) ?? null
  })
  const submit = async (settings: Settings) => {
    const name = shared.name.trim() === '' ? channels.typeOf(type) : shared.name
    onSaved(await save(channel, type, { ...shared, name }, settings))
  }
  return (
    <Dialog title={channel === null ? channels.add : channel.name} isOpen onClose={onClose}>
      <Loaded resource={schemas} skeleton={<Skeleton height='20rem' />}>
        {(all) => {
          const types = listChannelKeys(all).filter((key) => key !== 'apprise' || isAdministrator())
          return (
            <div class='stack'>
              {channel === null && (
                <Select
                  label={channels.type} value={type} onChange={setType}
                  options={Object.fromEntries(types.map((key) => [key, channels.typeOf(key)]))}
                />
              )}
              <CommonFields value={shared} onChange={setShared} />
              {type === 'apprise'
                ? <AppriseForm channel={channel} onSubmit={submit} />
                : (
                  <SchemaForm
                    key={type} schema={all[`channel_${type}_settings`]} stored={listStored(all[`channel_${type}_settings`], channel)}
                    isUpdate={channel !== null && channel.target !== ''} submit={common.save} onSubmit={submit}
                  />
                  )}
            </div>
          )
        }}
      </Loaded>
    </Dialog>
  )
}
