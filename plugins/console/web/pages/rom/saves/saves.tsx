import save from 'lucide/dist/esm/icons/save.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../../api/client.ts'
import { cache, useResource } from '../../../api/resource.ts'
import { accountOf, holds } from '../../../api/session.ts'
import { format, texts } from '../../../i18n/language.ts'
import { Button } from '../../../ui/button.tsx'
import { Check } from '../../../ui/field.tsx'
import { Empty } from '../../../ui/state.tsx'
import { nameOfDevice, useDevices } from '../devices.ts'
import { type DetailedRom, reloadRom } from '../rom-data.ts'
import { ConflictCard } from './conflict.tsx'
import { SaveEntry } from './save-entry.tsx'
import { groupByDay, listAssets, splitConflicts } from './timeline.ts'
import { UploadSave } from './upload.tsx'

const SHOWN = 40
const DELETED_KEY = 'deleted assets'

const useDeleted = () =>
  useResource(DELETED_KEY, async (signal) => {
    const [saves, states] = await Promise.all([
      call(api.GET('/api/saves/deleted', { signal })),
      call(api.GET('/api/states/deleted', { signal }))
    ])
    return { saves, states }
  })

/** Returns the person's saves and states of a ROM, deleted ones included. */
function useAssets (rom: DetailedRom) {
  const { data: { value: deleted } } = useDeleted()
  const ofRom = ({ rom_id: id }: { rom_id: number | null }) => id === rom.id
  return listAssets({
    saves: rom.user_saves,
    states: rom.user_states,
    deletedSaves: deleted?.saves.filter(ofRom) ?? [],
    deletedStates: deleted?.states.filter(ofRom) ?? []
  })
}

/** Public saves and states of other people. */
function Others ({ rom }: { rom: DetailedRom }) {
  const { saves: words } = texts().rom
  const own = accountOf()?.id
  const isOther = ({ user_id: id }: { user_id: number }) => id !== own
  const [saves, states] = [rom.all_user_saves.filter(isOther), rom.all_user_states.filter(isOther)]
  if (saves.length + states.length === 0) return null
  const names = new Map([...saves, ...states].map(({ file_name: name, id, username }) => [`${name} ${id}`, username]))
  return (
    <section class='rom-section'>
      <h2>{words.others}</h2>
      <ul class='rom-rows'>
        {listAssets({ saves, states, deletedSaves: [], deletedStates: [] }).map((asset) => (
          <li key={`${asset.kind} ${asset.id}`} class='rom-row'>
            <a class='rom-row-text' target='_top' href={asset.download_path.replace(/^\//, '')}>
              <strong>{asset.file_name}</strong>
              <span class='faint'>
                {words.of(names.get(`${asset.file_name} ${asset.id}`) ?? '')} · {format().dateTime(asset.updated_at)} ·{' '}
                {format().bytes(asset.file_size_bytes)}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The person's saves and states of a game as a timeline, conflicts first. */
export function Saves ({ rom }: { rom: DetailedRom }) {
  const { saves: words } = texts().rom
  const [limit, setLimit] = useState(SHOWN)
  const [showsDeleted, setShowsDeleted] = useState(false)
  const { data: { value: devices = [] } } = useDevices()
  const all = useAssets(rom)
  const { conflicts, others } = splitConflicts(all)
  const listed = others.filter(({ isDeleted }) => showsDeleted || !isDeleted)
  const hasDeleted = others.some(({ isDeleted }) => isDeleted)
  const reload = async () => {
    await Promise.all([reloadRom(rom.id), cache.reload(DELETED_KEY)])
  }
  const deviceOf = (id: string | null): string | null => {
    const device = devices.find(({ device_id: uuid }) => uuid === id)
    return device === undefined ? null : nameOfDevice(device)
  }
  return (
    <div class='rom-overview'>
      {conflicts.map((conflict) => (
        <ConflictCard
          key={conflict.copy.id}
          conflict={conflict}
          device={deviceOf(conflict.copy.device)}
          onChange={reload}
        />
      ))}
      {holds('assets.write') && <UploadSave romId={rom.id} onChange={reload} />}
      {listed.length === 0 && <Empty icon={save} title={words.empty.title} text={words.empty.text} />}
      <div class='timeline'>
        {groupByDay(listed.slice(0, limit)).map(({ date, assets }) => (
          <section key={date.getTime()} class='timeline-day'>
            <h2>{format().date(date)}</h2>
            <ul>
              {assets.map((asset) => (
                <SaveEntry key={`${asset.kind} ${asset.id}`} asset={asset} deviceOf={deviceOf} onChange={reload} />
              ))}
            </ul>
          </section>
        ))}
      </div>
      {listed.length > limit && (
        <div>
          <Button onClick={() => { setLimit(limit + 4 * SHOWN) }}>{words.all(listed.length - limit)}</Button>
        </div>
      )}
      {hasDeleted && <Check label={words.showDeleted} isChecked={showsDeleted} onChange={setShowsDeleted} />}
      <Others rom={rom} />
    </div>
  )
}
