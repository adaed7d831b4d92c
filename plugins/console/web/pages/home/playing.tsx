import { api, call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { format, texts } from '../../i18n/language.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { pictureOf } from '../../ui/cover.tsx'
import { Shelf } from '../../ui/shelf.tsx'

type Entry = components['schemas']['ActivityEntry']

function Player ({ entry }: { entry: Entry }) {
  const { home } = texts()
  const { user_id: userId, username, rom_id: id, rom_name: game, platform_name: platform, started_at: started } = entry
  const { rom_cover_path: cover, avatar_path: avatar } = entry
  return (
    <a class='player' href={`roms/${id}`}>
      {cover === '' ? <span class='player-cover' /> : <img class='player-cover' src={pictureOf(cover)} alt='' />}
      <span class='player-text'>
        <span class='player-name'>
          <Avatar user={{ id: userId, username, avatar_path: avatar }} />
          {username}
        </span>
        <span class='player-game'>{game}</span>
        <span class='faint'>{platform} · {home.since(format().ago(started))}</span>
      </span>
    </a>
  )
}

/** Loads the games that people play at this moment. */
export const useActivity = () => useResource('activity', (signal) => call(api.GET('/api/activity', { signal })), {
  'activity:update': true, 'activity:clear': true, 'activity:refresh': true, 'permissions:changed': true
})

/** The games that people play at this moment; nothing while nobody plays. */
export function Playing ({ activity }: { activity: ReturnType<typeof useActivity> }) {
  const { home } = texts()
  const { data: { value: entries = [] } } = activity
  if (entries.length === 0) return null
  return (
    <div class='players'>
      <Shelf title={home.playing} isWide>
        {entries.map((entry) => <Player key={`${entry.user_id} ${entry.device_id}`} entry={entry} />)}
      </Shelf>
    </div>
  )
}
