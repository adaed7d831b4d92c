import x from 'lucide/dist/esm/icons/x.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { cache } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { format, texts } from '../../i18n/language.ts'
import { IconButton } from '../../ui/button.tsx'
import { Check, Select } from '../../ui/field.tsx'
import { tellFailure } from '../../ui/toast.tsx'
import { type DetailedRom, reloadRom } from './rom-data.ts'

type RomProps = components['schemas']['RomProps']
type RomUser = components['schemas']['RomUser']

/** The last change of marks of each ROM that has not ended. */
const changes = new Map<number, Promise<RomUser>>()

async function sendMarks (romId: number, marks: RomProps, former: Promise<RomUser> | undefined): Promise<RomUser> {
  // Its failure was told by its own sender.
  await former?.catch(() => {})
  return await call(api.PUT('/api/roms/{id}/props', { params: { path: { id: romId } }, body: marks }))
}

/**
 * Stores marks of a person, and shows the marks that the server stored. Changes of one ROM are sent one after the
 * other, because requests overtake each other: of a rating that the arrows move, an earlier step could stay.
 */
export async function storeMarks (romId: number, marks: RomProps): Promise<void> {
  const change = sendMarks(romId, marks, changes.get(romId))
  changes.set(romId, change)
  const isLast = () => changes.get(romId) === change
  try {
    const stored = await change
    if (isLast()) cache.set<DetailedRom>(`rom ${romId}`, (rom) => rom && { ...rom, rom_user: stored })
    cache.invalidateAll('list ')
    cache.invalidateAll('home ')
  } finally {
    if (isLast()) changes.delete(romId)
  }
}

interface ScaleProps {
  name: 'rating' | 'difficulty'
  label: string
  value: number
  onChange: (value: number) => void
}

/** A value from 1 to 10; 0 for none. The arrows move it. */
function Scale ({ name, label, value, onChange }: ScaleProps) {
  const { marks: words } = texts().rom
  return (
    <fieldset class='rom-scale'>
      <legend>{label}</legend>
      <div class='rom-scale-steps'>
        {Array.from({ length: 10 }, (_, index) => index + 1).map((step) => (
          <label key={step} data-on={step <= value ? '' : undefined} title={words.of(label, step)}>
            <input
              class='visually-hidden'
              type='radio'
              name={name}
              value={step}
              checked={step === value}
              aria-label={words.of(label, step)}
              onChange={() => { onChange(step) }}
            />
          </label>
        ))}
      </div>
      {value > 0 && <span class='number soft'>{value}</span>}
      {value > 0 && <IconButton isSmall icon={x} label={words.clear(label)} onClick={() => { onChange(0) }} />}
    </fieldset>
  )
}

const STATUSES = ['incomplete', 'finished', 'completed_100', 'retired', 'never_playing'] as const

/** The person's own status, rating, difficulty and completion of a game. */
export function Marks ({ rom: { id, rom_user: stored } }: { rom: DetailedRom }) {
  const { marks: words } = texts().rom
  const [dragged, setDragged] = useState<number | null>(null)
  const set = (marks: RomProps) => {
    cache.set<DetailedRom>(
      `rom ${id}`,
      (rom) => rom && { ...rom, rom_user: { ...rom.rom_user, ...toUserMarks(marks) } }
    )
    storeMarks(id, marks).catch((err: unknown) => {
      tellFailure(err)
      void reloadRom(id)
    })
  }
  const completion = dragged ?? stored.completion
  return (
    <section class='rom-card'>
      <h2>{words.title}</h2>
      <Select
        label={words.status}
        value={stored.status ?? 'none'}
        options={words.statuses}
        onChange={(status) => { set({ status: STATUSES.find((one) => one === status) ?? null }) }}
      />
      <Scale name='rating' label={words.rating} value={stored.rating} onChange={(rating) => { set({ rating }) }} />
      <Scale
        name='difficulty'
        label={words.difficulty}
        value={stored.difficulty}
        onChange={(difficulty) => { set({ difficulty }) }}
      />
      <label class='rom-range'>
        <span>{words.completion}</span>
        <span class='number'>{format().percent(completion / 100)}</span>
        <input
          type='range'
          min={0}
          max={100}
          step={5}
          value={completion}
          onInput={({ currentTarget }) => { setDragged(Number(currentTarget.value)) }}
          onChange={({ currentTarget }) => {
            setDragged(null)
            set({ completion: Number(currentTarget.value) })
          }}
        />
      </label>
      <Check
        label={words.nowPlaying}
        isChecked={stored.now_playing}
        onChange={(isOn) => { set({ now_playing: isOn }) }}
      />
      <Check
        label={words.backlogged}
        isChecked={stored.backlogged}
        onChange={(isOn) => { set({ backlogged: isOn }) }}
      />
      {stored.last_played !== null && <p class='faint'>{words.lastPlayed(format().ago(stored.last_played))}</p>}
    </section>
  )
}

/** Returns the marks of a change that a person sees at once. */
const toUserMarks = ({
  status,
  rating,
  difficulty,
  completion,
  now_playing: nowPlaying,
  backlogged
}: RomProps): Partial<RomUser> => ({
  ...(status === undefined ? {} : { status }),
  ...(rating === undefined ? {} : { rating }),
  ...(difficulty === undefined ? {} : { difficulty }),
  ...(completion === undefined ? {} : { completion }),
  ...(nowPlaying === undefined ? {} : { now_playing: nowPlaying }),
  ...(backlogged === undefined ? {} : { backlogged })
})
