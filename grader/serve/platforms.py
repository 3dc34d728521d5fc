"""Lists the differences between learning platforms: addresses, special cases, and the values that a person enters.

There is one `Preset` for each platform that serve.toml may name (`platform = "canvas"`), and all
other code asks the preset. The facts were read in public documentation and source code in November
2026; docs/serve.md names the sources. Only Moodle was tried on a real installation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

ANY = "*"  # as a deployment: each one of the client
TASK, CHOICE = "LtiResourceLinkRequest", "LtiDeepLinkingRequest"  # the messages: open a task, choose one for a course
LOGIN, LAUNCH, KEYS, CONFIGURATION = "/lti/login", "/lti/launch", "/lti/keys", "/lti/configuration/"
# What serve.toml calls an address of a platform, and what the platform calls it.
ADDRESSES = dict(issuer="issuer", login_url="authorization_endpoint", token_url="token_endpoint", keys_url="jwks_uri")
# Canvas: where the tool appears, by message. The first place makes it an assignment's tool.
CANVAS_PLACEMENTS = {CHOICE: ("assignment_selection", "link_selection"), TASK: ("course_navigation",)}


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A kind of platform. The default values are those of the LTI standard.

    Addresses may contain placeholders: {school} is the school's address, {host} its host and port,
    {tool} the platform's own number of this tool, and {stage} "beta." or "test." for a trial
    system, otherwise "".
    """

    title: str
    issuer: str = "{school}"
    login_url: str
    token_url: str
    keys_url: str
    audience: str = ""  # recipient in our signed request for a token; "" for the token's address
    services: tuple[str, ...] = ()  # other hosts for scores, rosters, choices and frames
    deployments: tuple[str, ...] = (ANY,)  # unless serve.toml names some; () if one client serves several schools
    institution_roles: bool = False  # sends a person's roles in the institution instead of the course
    roster_has_sub: bool = True  # a roster's `user_id` is the `sub` of a launch
    scales: bool = True  # converts a score to the maximum of its own item
    takes_submission: bool = True  # accepts the time of submission in a score
    submission_extension: str = ""  # the claim of a score that describes the attempt
    placements: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by message, for registration
    extensions: Mapping[str, str] = field(default_factory=dict)  # besides, for registration
    configuration: str = ""  # template of a file that describes this tool
    registers: bool = False  # registers a tool by an address of ours
    where: str  # the menus in which a tool is entered
    fields: tuple[tuple[str, str], ...]  # name and value of each form field, with {login}, {launch}, {keys}, …
    shows: str  # where the platform shows client id and deployment


CANVAS_CLOUD = "https://sso.{stage}canvaslms.com"
BLACKBOARD = "https://developer.blackboard.com/api/v1"
SCHOOLOGY = "https://lti-service.svc.schoology.com/lti-service"
URLS = (("Tool URL", "{launch}"), ("Initiate login URL", "{login}"), ("Redirection URI", "{launch}"))
PUBLIC_KEYSET = (("Public key type", "Keyset URL"), ("Public keyset", "{keys}"))

PRESETS = {
    "canvas": Preset(
        title="Canvas",
        issuer="https://canvas.{stage}instructure.com",
        login_url=f"{CANVAS_CLOUD}/api/lti/authorize_redirect",
        token_url=f"{CANVAS_CLOUD}/login/oauth2/token",
        keys_url=f"{CANVAS_CLOUD}/api/lti/security/jwks",
        services=("https://{host}",),
        submission_extension="https://canvas.instructure.com/lti/submission",
        placements=CANVAS_PLACEMENTS,
        extensions={"https://canvas.instructure.com/lti/privacy_level": "public"},
        configuration="lti_canvas.json.j2",
        registers=True,
        where="Admin → Developer Keys → + Developer Key → + LTI Key",
        fields=(("Redirect URIs", "{launch}"), ("Method", "Enter URL"), ("JSON URL", "{configuration}")),
        shows="The client id is the number under Details in the list of keys. Set the key to On, and add the app in "
        "Settings → Apps by that id; its menu shows the deployment.",
    ),
    "blackboard": Preset(
        title="Blackboard",
        issuer="https://blackboard.com",
        login_url=f"{BLACKBOARD}/gateway/oidcauth",
        token_url=f"{BLACKBOARD}/gateway/oauth2/jwttoken",
        keys_url=f"{BLACKBOARD}/management/applications/{{client_id}}/jwks.json",
        services=("https://{host}",),
        deployments=(),
        where="developer.anthology.com → My Apps → Register; then in Blackboard: Integrations → LTI Tool Providers",
        fields=(
            ("Login Initiation URL", "{login}"),
            ("Tool Redirect URL(s)", "{launch}"),
            ("Tool JWKS URL", "{keys}"),
            ("Signing Algorithm", "RS256"),
            ("Institution policies", "send role, name and e-mail; allow grade service and membership service"),
        ),
        shows="The portal shows the application id, which is the client id. Blackboard shows the deployment id once "
        "you have registered the tool provider there with the client id.",
    ),
    "brightspace": Preset(
        title="Brightspace",
        login_url="{school}/d2l/lti/authenticate",
        token_url="https://auth.brightspace.com/core/connect/token",
        keys_url="{school}/d2l/.well-known/jwks",
        audience="https://api.brightspace.com/auth/token",
        registers=True,
        where="Admin Tools → Manage Extensibility → LTI Advantage → Register Tool",
        fields=(
            ("Domain", "{url}"),
            ("Redirect URLs", "{launch}"),
            ("OpenID Connect Login URL", "{login}"),
            ("Target Link URI", "{launch}"),
            ("Keyset URL", "{keys}"),
            ("Extensions", "Assignment and Grade Services, Deep Linking, Names and Role Provisioning Services"),
            ("Deployment → Security Settings", "name, e-mail, course (context), roles; users who are not known"),
        ),
        shows="Brightspace shows the client id after the registration, and the deployment id under Deployments.",
    ),
    "moodle": Preset(
        title="Moodle",
        login_url="{school}/mod/lti/auth.php",
        token_url="{school}/mod/lti/token.php",
        keys_url="{school}/mod/lti/certs.php",
        registers=True,
        where="Site administration → Plugins → External tool → Manage tools → configure a tool manually",
        fields=(
            ("LTI version", "LTI 1.3"),
            *URLS,
            *PUBLIC_KEYSET,
            ("Supports Deep Linking", "yes; Content Selection URL {launch}"),
            ("Services", "use for grade sync and column management; retrieve members' information"),
            ("Privacy", "share name and e-mail; accept grades from the tool"),
        ),
        shows="The list of tools shows the client id and the deployment id (View configuration details).",
    ),
    "sakai": Preset(
        title="Sakai",
        login_url="{school}/imsoidc/lti13/oidc_auth",
        token_url="{school}/imsblis/lti13/token/{tool}",
        keys_url="{school}/imsblis/lti13/keyset",
        deployments=("1",),
        takes_submission=False,
        registers=True,
        where="Administration Workspace → External Tools → Install LTI Tool",
        fields=(
            ("Launch URL", "{launch}"),
            ("Tool OpenID Connect/Initialization Endpoint", "{login}"),
            ("Tool Redirect Endpoint(s)", "{launch}"),
            ("Tool Keyset URL", "{keys}"),
            ("Privacy and services", "send name and e-mail; provide roster and grades; allow content selection"),
        ),
        shows="The tool's page shows the client id, the deployment and the token's address, which ends in the "
        "tool's number.",
    ),
    "schoology": Preset(
        title="Schoology",
        issuer="https://schoology.schoology.com",
        login_url=f"{SCHOOLOGY}/authorize-redirect",
        token_url=f"{SCHOOLOGY}/access-token",
        keys_url=f"{SCHOOLOGY}/.well-known/jwks",
        services=("https://{host}",),
        deployments=(),
        where="app.schoology.com → App Center → My Developer Apps → Add App",
        fields=(
            ("Type of App", "LTI 1.3"),
            ("OIDC Login Init URL", "{login}"),
            ("Redirect URLs", "{launch}"),
            ("Domain/URL", "{launch}"),
            ("JWKS URL", "{keys}"),
            ("Privacy", "send name and e-mail"),
        ),
        shows="The app's page shows the client id. Configure → API Info shows the deployment id of your school.",
    ),
    "openedx": Preset(
        title="Open edX",
        login_url="{school}/api/lti_consumer/v1/launch/",
        token_url="{school}/api/lti_consumer/v1/token/{tool}",
        keys_url="{school}/api/lti_consumer/v1/public_keysets/{tool}",
        services=("https://apps.{host}", "https://studio.{host}"),
        deployments=("1",),
        institution_roles=True,
        where="Studio → a unit → Advanced → LTI Consumer → Edit",
        fields=(
            ("LTI Version", "LTI 1.3"),
            ("Tool Launch URL", "{launch}"),
            ("Tool Initiate Login URL", "{login}"),
            ("Tool Public Key Mode", "Keyset URL"),
            ("Tool Keyset URL", "{keys}"),
            ("Registered Redirect URIs", '["{launch}"]'),
            ("LTI Assignment and Grades Service", "programmatic"),
            ("Deep linking", "yes; Deep Linking Launch URL {launch}"),
        ),
        shows="Studio shows the client id, the deployment and the token's address, which ends in the number of "
        "the block.",
    ),
    "ilias": Preset(
        title="ILIAS",
        login_url="{school}/ltiauth.php",
        token_url="{school}/ltitoken.php",
        keys_url="{school}/lticerts.php",
        registers=True,
        where="Administration → Extending ILIAS → LTI → Consumer → create a provider",
        fields=(("LTI version", "1.3.0"), *URLS, *PUBLIC_KEYSET, ("Services", "grade synchronisation; names")),
        shows="The provider's page shows the client id and the deployment id.",
    ),
    "openolat": Preset(
        title="OpenOlat",
        login_url="{school}/lti/auth",
        token_url="{school}/lti/token",
        keys_url="{school}/lti/keys",
        roster_has_sub=False,
        scales=False,
        where="Administration → External tools → LTI 1.3 → Add external tool",
        fields=(
            *URLS,
            ("Public key", "URL: {keys}"),
            ("Custom attributes (course element)", "username=$userprops_username"),
        ),
        shows="The tool's page shows the client id and all addresses, and the course element shows the deployment.",
    ),
}
STANDARD = Preset(title="", login_url="", token_url="", keys_url="", where="", fields=(), shows="")


def filled_in(name: str, school: str, client_id: str, tool: str = "") -> dict[str, Any]:
    """Return the values of a platform for serve.toml. Leave out addresses that need a {tool} if `tool` is "".

    Args:
        name: the kind of platform, a key of PRESETS.
        school: the school's address, without a slash at the end.
        tool: the platform's own number of this tool, or "" if it is not known.
    """
    preset, host = PRESETS[name], urlsplit(school).netloc
    stage = next((f"{each}." for each in ("beta", "test") if f".{each}." in host), "")
    known = dict(school=school, host=host, stage=stage, tool=tool, client_id=client_id)
    addresses = {key: getattr(preset, key) for key in (*ADDRESSES, "audience")}
    values: dict[str, Any] = {
        key: address.format(**known) for key, address in addresses.items() if tool or "{tool}" not in address
    }
    values["services"] = [each.format(**known) for each in preset.services]
    return values | ({"deployments": list(preset.deployments)} if preset.deployments else {})


def to_enter(name: str, url: str) -> str:
    """Return the lines that show, for each field of a platform's form, the value that a person enters.

    Args:
        name: the kind of platform, a key of PRESETS.
        url: this server's address.
    """
    preset = PRESETS[name]
    ours = dict(
        url=url, login=url + LOGIN, launch=url + LAUNCH, keys=url + KEYS, configuration=url + CONFIGURATION + name
    )
    lines = [f"  {label:<44} {value.format(**ours)}" for label, value in preset.fields]
    return "\n".join([f"On {preset.title}: {preset.where}", *lines, preset.shows])
