import { addressOf } from '../base.ts'

/** The part of an account that its picture needs. */
interface Pictured { id: number, username: string, avatar_path: string, updated_at?: string }

/** The picture of a person, or the first letter of the name. */
export function Avatar ({ user, isLarge = false }: { user: Pictured, isLarge?: boolean }) {
  const look = isLarge ? 'avatar avatar-large' : 'avatar'
  if (user.avatar_path === '') return <span class={look} aria-hidden>{user.username.slice(0, 1)}</span>
  const version = encodeURIComponent(user.updated_at ?? user.avatar_path)
  return <img class={look} alt='' src={addressOf(`api/users/${user.id}/avatar?v=${version}`)} />
}
