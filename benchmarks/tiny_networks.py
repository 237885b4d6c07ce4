"""For sweep.py: the smallest network of every family of timm and of transformers, with inputs that it takes."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

LARGEST = 200_000_000
"""Networks with more parameters than this are not built."""

SIZES = (64, 96, 128, 160, 192, 224, 240, 256, 299, 384, 512)
"""Sides of images for timm, smallest first."""

SMALL: tuple[tuple[str, int], ...] = (
    (r"codebook_size", 64),
    (r"vocab_size|vocab$|num_embeddings|n_symbols", 120),
    (r"(token|pad|bos|eos|sep|cls|mask|start|end|image|video|audio)_?\w*_(id|index)$", 110),
    (r"experts_per_tok|num_experts_per_token|top_k$|topk$|moe_k|topk_group|n_group|num_selected_experts", 2),
    (r"(num|n)_\w*expert|num_experts|moe_num_experts|shared_expert$", 4),
    (r"(q|kv|o|index)_lora_rank|lora_rank|_rank$|time_step_rank|dt_rank", 8),
    (r"qk_nope_head_dim|rotary_dim|mamba_d_state|state_size|ssm_state_size", 8),
    (r"head_dim|d_kv|key_size|kv_channels|mamba_d_head|head_size", 16),
    (r"intermediate|ffn|d_ff|inner|mlp_dim|feed_?forward|n_inner|ff_dim|mlp_hidden", 48),
    (r"(num|n)_\w*(heads|head)$|heads?$|num_key_value\w*|attention_groups", 2),
    (r"layers?$|depth$|num_blocks$|n_layer|num_stages_\w+|decoder_num_layers|num_hidden_layers|repeats$", 2),
    (r"image_size|img_size|input_size|crop_size", 32),
    (r"patch_size", 8),
    (r"max_position|n_positions|max_\w*(len|length|positions?)|seq_length|max_source|context_length|n_ctx", 64),
    (r"num_queries|num_latents|num_query_tokens|num_frames|num_proposals", 8),
    (r"num_groups|conv_pos_embedding_groups|num_conv_pos_embedding_groups|n_groups", 2),
    (r"hidden_size|d_model|dim$|_dim|n_embd|n_embed|embed|width$|channels?$|_size$|hidden$|d_inner|features$", 32),
)
"""Numbers of a configuration by their names, first match, and what they become where they are larger."""

KEPT = (
    r"num_feat_extract_layers|num_channels|in_channels|in_chans|num_labels|kernel|stride|temporal|window|bins|dilation|"
    r"factor|ratio|group_size"
)
"""Numbers that stay."""


def tiny_config(default: Any, how: str = "all", **chosen: Any) -> Any:
    """A configuration with few and narrow layers: every whole number with a name in SMALL, in parts likewise.

    Args:
        default: The configuration as it is.
        how: "all", "numbers" (lists of numbers stay) or "nothing".
        chosen: What it has instead; for a part a dictionary.
    """
    plain, values = type(default)().to_dict(), default.to_dict()
    layers, changed = values.get("num_hidden_layers"), dict[str, Any]()
    for name, value in values.items():
        small = value if how == "nothing" or (how == "numbers" and not isinstance(value, int)) else _small(name, value)
        if how == "all" and isinstance(small, list) and len(small) == layers:  # an entry for each layer
            small = small[:2]
        if small != value or value != plain.get(name):
            changed[name] = small
    for part in getattr(type(default), "sub_configs", {}):
        inner = getattr(default, part, None)
        if hasattr(inner, "to_dict") and not hasattr(chosen.get(part), "to_dict"):
            changed[part] = tiny_config(inner, how, **chosen.pop(part, {}))
    if "use_cache" in values:
        changed["use_cache"] = False
    return type(default)(**{**changed, **chosen})


def _small(name: str, value: Any) -> Any:
    if isinstance(value, (list, tuple)) and value and all(type(v) is int for v in value):
        return type(value)(_small(name, v) for v in value)
    if type(value) is not int or re.search(KEPT, name):
        return value
    return next((min(value, small) for pattern, small in SMALL if re.search(pattern, name)), value)


@dataclass
class Built:
    """A network and a batch that it takes."""

    name: str
    network: nn.Module
    batch: dict[str, Tensor]


def transformers_families() -> dict[str, list[str]]:
    """The model types of each folder of transformers that AutoModel builds."""
    from transformers.models.auto.configuration_auto import model_type_to_module_name
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    families: dict[str, list[str]] = {}
    for kind in MODEL_MAPPING_NAMES:
        families.setdefault(model_type_to_module_name(kind), []).append(kind)
    return families


def build_transformers(kind: str, n: int, seed: int = 0) -> Built:
    """A tiny network of a model type, in evaluation mode, with the first inputs that it takes."""
    from transformers import AutoConfig

    failures = []
    for how in ("all", "numbers", "nothing"):
        try:
            config = tiny_config(AutoConfig.for_model(kind), how, **exceptions_of(kind))
            network = _tiny_network(config, seed)
            return _with_inputs(kind, network, candidates(network, n, seed))
        except Exception as error:  # noqa: BLE001  # the code of others
            failures.append(error)
    raise failures[0]


def _tiny_network(config: Any, seed: int) -> nn.Module:
    from transformers import AutoModel

    with torch.device("meta"):
        parameters = sum(p.numel() for p in AutoModel.from_config(config).parameters())
    if parameters > LARGEST:
        raise ValueError(f"still {parameters:,} parameters")
    torch.manual_seed(seed)
    network: nn.Module = AutoModel.from_config(config).float().eval()
    return network


def candidates(network: nn.Module, n: int, seed: int) -> Iterator[dict[str, Tensor]]:
    """Batches that a network of transformers may take: text, images, sounds and numbers, by the names it has."""
    parameters = inspect.signature(network.forward).parameters
    config = network.config
    g = torch.Generator().manual_seed(seed)
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    vision = getattr(config, "vision_config", None) or config
    vocabulary, channels = getattr(text, "vocab_size", None) or 100, getattr(vision, "num_channels", 3)
    size = getattr(vision, "image_size", None) or 64
    size = size if isinstance(size, int) else max(size)
    ids = torch.randint(2, max(3, min(vocabulary, 90)), (n, 8), generator=g)
    ones = torch.ones(n, 8, dtype=torch.long)
    words = {"input_ids": ids, "attention_mask": ones, "decoder_input_ids": ids, "bbox": torch.zeros(n, 8, 4).long()}
    for side in dict.fromkeys((size, 64, 224)):
        pixels = torch.randn(n, channels, side, side, generator=g)
        values = {"pixel_values": pixels, "pixel_values_videos": pixels[:, None].repeat(1, 8, 1, 1, 1)}
        sound = torch.randn(n, 4000, generator=g)
        names = ("num_mel_bins", "feature_projection_input_dim", "input_feat_per_channel", "feature_size")
        bins = next((size for name in names if (size := getattr(config, name, None))), 80)
        kinds: list[dict[str, Tensor]] = [
            words,
            values,
            {**values, "pixel_values": pixels[:, None].repeat(1, 8, 1, 1, 1)},
            {**words, **values},
            {**words, "input_values": sound},
            {**words, "input_values": sound[:, None]},
            {"input_values": torch.randn(n, getattr(config, "max_length", None) or 128, bins, generator=g)},
            {**words, "input_features": torch.randn(n, bins, 128, generator=g)},
            {**words, "input_features": torch.randn(n, 128, bins, generator=g)},
            {"input_features": torch.randn(n, bins, 3000, generator=g)},
            {"input_features": torch.randn(n, 128, bins, generator=g)},
            {"inputs_embeds": torch.randn(n, 8, getattr(text, "hidden_size", 32), generator=g)},
            {"inputs": torch.randn(n, 8, getattr(text, "d_model", 32), generator=g)},
            {"pixel_values": torch.randn(n, 2, channels, side, side, generator=g)},
            _series(config, n, g),
        ]
        for kind in kinds:
            if batch := {name: value for name, value in kind.items() if name in parameters}:
                yield batch


def _series(config: Any, n: int, g: torch.Generator) -> dict[str, Tensor]:
    """Numbers over time, as networks that forecast take them."""
    ahead = getattr(config, "prediction_length", None) or 8
    length = (getattr(config, "context_length", None) or 16) + max(getattr(config, "lags_sequence", [0]))
    shape = () if hasattr(config, "lags_sequence") else (getattr(config, "num_input_channels", 1),)
    return {
        "past_values": torch.randn(n, length, *shape, generator=g),
        "past_time_features": torch.randn(n, length, 1, generator=g),
        "past_observed_mask": torch.ones(n, length),
        "future_values": torch.randn(n, ahead, generator=g),
        "future_time_features": torch.randn(n, ahead, 1, generator=g),
    }


def timm_families() -> list[str]:
    """The modules of timm that register networks."""
    from timm.models import list_modules

    return sorted(list_modules())


def build_timm(family: str, n: int, seed: int = 0) -> Built:
    """The network with the fewest parameters of a module of timm, at the smallest side that it takes."""
    import timm

    sizes = {}
    for name in timm.list_models(module=family, exclude_filters="test_*"):
        with contextlib.suppress(Exception), torch.device("meta"):
            sizes[name] = sum(p.numel() for p in timm.create_model(name).parameters())
    name = min(sizes, key=lambda one: (sizes[one], one))
    if sizes[name] > LARGEST:
        raise ValueError(f"the smallest, {name}, has {sizes[name]:,} parameters")
    return build_timm_network(name, n, seed)


def build_timm_network(name: str, n: int, seed: int = 0) -> Built:
    """A network of timm at the smallest side that it takes."""
    import timm

    failure = None
    for side in SIZES:
        torch.manual_seed(seed)
        try:
            network = timm.create_model(name, img_size=side)
        except TypeError:
            network = timm.create_model(name)
        except Exception as error:  # noqa: BLE001  # the code of others
            failure = error
            continue
        channels = network.pretrained_cfg["input_size"][0]
        images = torch.randn(n, channels, side, side, generator=torch.Generator().manual_seed(seed))
        try:
            return _with_inputs(f"{name} at {side}", network.eval(), iter([{"x": images}]))
        except ValueError as error:
            failure = error
    raise ValueError(str(failure))


def _with_inputs(name: str, network: nn.Module, batches: Iterator[dict[str, Tensor]]) -> Built:
    failures = []
    for batch in batches:
        try:
            with torch.no_grad():
                network(**batch)
            return Built(name, network, batch)
        except Exception as error:  # noqa: BLE001  # the code of others
            failures.append(f"{'+'.join(batch)}: {type(error).__name__} {error}")
    if not failures:
        raise ValueError(
            f"it takes other inputs than are tried: {', '.join(inspect.signature(network.forward).parameters)}"
        )
    raise ValueError(" | ".join(" ".join(failure.split())[:120] for failure in dict.fromkeys(failures)))


def exceptions_of(kind: str) -> dict[str, Any]:
    """What a configuration needs beyond small numbers, by model type."""
    from transformers import ResNetConfig

    resnet = ResNetConfig(
        embedding_size=16, hidden_sizes=[16, 24, 32, 40], depths=[1, 1, 1, 1], out_features=["stage4"]
    )
    several = ResNetConfig(**{**resnet.to_dict(), "out_features": ["stage2", "stage3", "stage4"], "out_indices": None})
    found: dict[str, Any] = {
        "bamba": {"mamba_n_heads": 4, "mamba_d_head": 16},
        "conditional_detr": {"backbone_config": resnet},
        "dab-detr": {"backbone_config": resnet},
        "deepseek_v2": {"num_experts_per_tok": 2},
        "deformable_detr": {"backbone_config": several},
        "detr": {"backbone_config": resnet},
        "efficientnet": {"width_coefficient": 1.0, "depth_coefficient": 0.3, "hidden_dim": 1280},
        "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
        "granitemoehybrid": {"mamba_n_heads": 4, "mamba_d_head": 16},
        "csm": {"codec_config": {"hidden_size": 512}},
        "codegen": {"n_head": 4},
        "xlnet": {"d_head": 16},
        "xmod": {"default_language": "en_XX"},
        "jamba": {"attn_layer_offset": 1, "attn_layer_period": 2},
        "mamba2": {"num_heads": 4, "head_dim": 16},
        "perceiver": {"d_latents": 32, "d_model": 24, "num_self_attends_per_block": 2},
        "reformer": {"axial_pos_embds": False, "attn_layers": ["local", "lsh"], "num_buckets": 2},
        "table-transformer": {"backbone_config": resnet},
        "autoformer": {"prediction_length": 8, "context_length": 16, "num_time_features": 1},
        "informer": {"prediction_length": 8, "context_length": 16, "num_time_features": 1},
        "time_series_transformer": {"prediction_length": 8, "context_length": 16, "num_time_features": 1},
    }
    if re.fullmatch(r"qwen2(_5)?_vl|glm4v(_moe)?|glm46v|glm_ocr|glm_image|glmga|paddleocr_vl", kind):
        rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]}
        return {"text_config": {"rope_parameters": rope}}
    return found.get(kind, {})
