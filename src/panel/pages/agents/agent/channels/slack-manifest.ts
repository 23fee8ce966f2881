/** The manifest of a Slack app for an agent, as YAML; without an address for Socket Mode (docs/channels/slack.md). */
export function slackManifest(name: string, requestUrl: string | null): string {
  // A JSON string is valid YAML. Slack accepts at most 35 characters.
  const shown = JSON.stringify(name.slice(0, 35));
  return `display_information:
  name: ${shown}
features:
  app_home:
    home_tab_enabled: false
    messages_tab_enabled: true
    messages_tab_read_only_enabled: false
  bot_user:
    display_name: ${shown}
    always_online: true
oauth_config:
  scopes:
    bot:
      - app_mentions:read
      - channels:history
      - chat:write
      - files:read
      - groups:history
      - im:history
settings:
  event_subscriptions:${requestUrl === null ? "" : `\n    request_url: ${JSON.stringify(requestUrl)}`}
    bot_events:
      - app_mention
      - message.im
  org_deploy_enabled: false
  socket_mode_enabled: ${requestUrl === null}
  token_rotation_enabled: false
`;
}
